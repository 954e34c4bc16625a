-- Readers without some.
create or replace function pgrecall.without_tokens(readers text[], tokens text[]) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select array(
    select u.reader from unnest(readers) with ordinality as u(reader, place)
    where u.reader <> all (tokens) order by u.place)
$$;
