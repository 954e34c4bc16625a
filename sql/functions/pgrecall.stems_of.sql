-- The stems of a few words.
create or replace function pgrecall.stems_of(words text[]) returns text[]
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select tsvector_to_array(to_tsvector(pgrecall.text_configuration(null), pgrecall.parts(coalesce(array_to_string(words, ' '), ''))))
$$;
