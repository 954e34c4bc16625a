-- The texts as bytes that can be read back in one way only: each behind its length, null as length -1.
create or replace function pgrecall.frame(variadic fields text[]) returns bytea
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    framed bytea := '';
    field text;
begin
    foreach field in array fields loop
        if field is null then
            framed := framed || int4send(-1);
        else
            framed := framed || int4send(octet_length(field)) || convert_to(field, 'UTF8');
        end if;
    end loop;
    return framed;
end
$$;
