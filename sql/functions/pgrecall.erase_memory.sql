-- Erase every version of a memory, with its salts: what the log keeps of it then proves nothing of its words.
create or replace function pgrecall.erase_memory(head pgrecall.memories, who text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    versions int;
    vectors int;
    links int;
begin
    delete from pgrecall.embeddings e where e.space = head.space and e.id = head.id;
    get diagnostics vectors = row_count;
    delete from pgrecall.embedding_queue q where q.space = head.space and q.id = head.id;
    delete from pgrecall.memory_shares s where s.space = head.space and s.id = head.id;
    delete from pgrecall.links l where l.space = head.space and head.id in (l.source, l.target);
    get diagnostics links = row_count;
    delete from pgrecall.usage u where u.space = head.space and u.id = head.id;
    delete from pgrecall.memories m where m.space = head.space and m.id = head.id;
    get diagnostics versions = row_count;
    perform pgrecall.mix_neighbours(head);
    perform pgrecall.append_event(head.space, who, 'erase', head.id, head.version, '{}', null);
    return format(
        'erased %s versions, %s embeddings, %s links; WAL holds them until the next checkpoint and archive cycle',
        versions, vectors, links);
end
$$;
