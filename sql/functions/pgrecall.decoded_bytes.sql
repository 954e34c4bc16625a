-- The text that a run in base64 or hex spells; null when it is none that anybody would read.
create or replace function pgrecall.decoded_bytes(run text, format text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    plain text;
begin
    if format = 'base64' then
        run := translate(run, '-_', '+/');
        run := left(run, length(run) - (length(run) % 4 = 1)::int);
        run := rpad(run, (length(run) + 3) / 4 * 4, '=');
    elsif length(run) % 2 = 1 or translate(run, '0123456789abcdefABCDEF', '') <> '' then
        return null;
    end if;
    plain := convert_from(decode(run, format), 'UTF8');
    return case when plain !~ '[\x01-\x08\x0e-\x1f\x7f]' and plain ~ '[[:alpha:]]{2}' then plain end;
exception
    when data_exception then
        return null;
end
$$;
