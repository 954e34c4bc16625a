-- A query for any of some lexemes, taken as they are: no text becomes query syntax.
create or replace function pgrecall.any_of(lexemes text[]) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select string_agg('''' || replace(replace(l.lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
        from unnest(lexemes) as l(lexeme));
end
$$;
