-- Readers with more of those that single rows are given; always in one order, so that equal sets are equal arrays.
create or replace function pgrecall.with_tokens(readers text[], tokens text[]) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select array(
        select u.reader from unnest(readers) with ordinality as u(reader, place)
        where u.reader !~ '^(share|delegation):' order by u.place)
    || array(
        select distinct u.reader from unnest(readers || tokens) as u(reader)
        where u.reader ~ '^(share|delegation):' order by u.reader)
$$;
