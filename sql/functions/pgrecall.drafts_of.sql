-- The drafts that an array of objects of remember()'s fields describes, in order; `always` goes over each.
create or replace function pgrecall.drafts_of(memories jsonb, always jsonb default '{}') returns pgrecall.draft[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    wrong text;
begin
    if jsonb_typeof(memories) is distinct from 'array' then
        raise exception 'memories must be a JSON array' using errcode = '22023';
    end if;
    select o.field into wrong
    from jsonb_array_elements(memories) as m, jsonb_object_keys(m) as o(field)
    where not o.field = any (array[
        'content', 'space', 'kind', 'title', 'entity', 'tags', 'importance', 'confidence', 'visibility', 'key',
        'pinned', 'thread', 'source', 'event_at', 'valid_from', 'valid_until', 'ttl', 'metadata', 'query_embedding',
        'derived_from'])
    limit 1;
    if found then
        raise exception 'remember() takes no argument "%"', wrong using errcode = '22023';
    end if;
    return array(
        select jsonb_populate_record(null::pgrecall.draft, m.value || always)
        from jsonb_array_elements(memories) with ordinality as m order by m.ordinality);
end
$$;
