-- A query for the memories whose entity has a name in it, as words in a row; null where it has no searchable word.
create or replace function pgrecall.of_entity(name text) returns tsquery
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- A memory's entity stands in weight B.
    return regexp_replace(pgrecall.phrase(name)::text, $q$('(?:[^'\\]|''|\\.)*')$q$, '\1:B', 'g')::tsquery;
end
$$;
