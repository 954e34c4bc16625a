-- The heads just before (-1) and after (1) a memory in its thread, among those with the same readers:
-- what one reader may not see must not colour what another finds.
create or replace function pgrecall.thread_neighbours(m pgrecall.memories)
returns table (place int, id uuid, version int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    (select -1, n.id, n.version from pgrecall.memories n
    where n.space = m.space and n.thread = m.thread and n.superseded_at is null and n.archived_at is null
        and (n.happened_at, n.id) < (m.happened_at, m.id) and n.readers = m.readers
    order by n.happened_at desc, n.id desc
    limit 1)
    union all
    (select 1, n.id, n.version from pgrecall.memories n
    where n.space = m.space and n.thread = m.thread and n.superseded_at is null and n.archived_at is null
        and (n.happened_at, n.id) > (m.happened_at, m.id) and n.readers = m.readers
    order by n.happened_at, n.id
    limit 1);
end
$$;
