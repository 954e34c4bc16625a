-- Take a memory's earlier versions away from those who by its visibility may not read its newest: what is made
-- private was said in the versions before. Who comes to a memory later does not get to see what it said before.
create or replace function pgrecall.narrow_readers(head pgrecall.memories, next pgrecall.memories) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if head.readers <@ next.readers then
        return;
    end if;
    update pgrecall.memories m set readers = array(
        select r from unnest(m.readers) with ordinality as o(r, place)
        where r ~ '^(share|delegation):' or r = any (next.readers)
        order by place)
    where m.space = next.space and m.id = next.id and m.version < next.version and m.deleted_at is null;
    update pgrecall.embeddings e set readers = m.readers
    from pgrecall.memories m
    where e.space = next.space and e.id = next.id and e.version < next.version
        and m.space = e.space and m.id = e.id and m.version = e.version
        and e.readers <> m.readers;
end
$$;
