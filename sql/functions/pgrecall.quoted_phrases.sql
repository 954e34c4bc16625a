-- What the query holds in double quotes, of whatever shape. A quote without its partner is only a character.
create or replace function pgrecall.quoted_phrases(query text) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case when query ~ '["“”„«]' then array(
    select found[1]
    from regexp_matches(query, '["“”„«]([^"“”„«»]+)["“”»]', 'g') as found)
else '{}' end
$$;
