-- Take every version of a memory out of its readers' sight; the space's admins keep its history.
create or replace function pgrecall.delete_memory(head pgrecall.memories, who text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgrecall.memories m
    set readers = array['admin:' || m.space], archived_at = coalesce(m.archived_at, clock_timestamp()),
        deleted_at = coalesce(m.deleted_at, clock_timestamp())
    where m.space = head.space and m.id = head.id;
    delete from pgrecall.embeddings e where e.space = head.space and e.id = head.id;
    delete from pgrecall.embedding_queue q where q.space = head.space and q.id = head.id;
    delete from pgrecall.memory_shares s where s.space = head.space and s.id = head.id;
    delete from pgrecall.links l where l.space = head.space and head.id in (l.source, l.target);
    perform pgrecall.mix_neighbours(head);
    perform pgrecall.append_event(head.space, who, 'delete', head.id, head.version, '{}', null);
    return 'deleted';
end
$$;
