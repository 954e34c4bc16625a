-- A query for any of some names, each as words in a row; null where none has a searchable word.
create or replace function pgrecall.any_name(names text[]) returns tsquery
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    name text;
    phrase tsquery;
    found tsquery;
begin
    foreach name in array names loop
        phrase := pgrecall.phrase(name);
        found := coalesce(found || phrase, found, phrase);
    end loop;
    return found;
end
$$;
