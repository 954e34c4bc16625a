-- What the query holds in double quotes, of whatever shape. A quote without its partner is only a character.
create or replace function pgrecall.quoted_phrases(query text) returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if query !~ '["“”„«]' then
        return '{}';
    end if;
    return array(select m.groups[1] from regexp_matches(query, '["“”„«]([^"“”„«»]+)["“”»]', 'g') as m(groups));
end
$$;
