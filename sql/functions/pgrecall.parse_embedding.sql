-- Take apart '<model> […]' or '<model> ! <reason>': one of vector and reason is null.
create or replace function pgrecall.parse_embedding(
    value text, out model text, out vector text, out reason text
)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    rest text := substr(value, strpos(value, ' ') + 1);
begin
    model := split_part(value, ' ', 1);
    if rest like '[%' then
        vector := rest;
    elsif value is not null then
        reason := nullif(btrim(ltrim(rest, '!')), '');
        reason := coalesce(reason, 'no reason given');
    end if;
end
$$;
