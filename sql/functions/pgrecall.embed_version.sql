-- Give a new version its vector if one came with it, or put it in the queue and wake the worker.
create or replace function pgrecall.embed_version(fresh pgrecall.memories, embedding text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    given record := pgrecall.parse_embedding(embedding);
begin
    if given.vector is not null
        and exists (select from pgrecall.embedding_models e where e.model = given.model and e.current)
    then
        perform pgrecall.store_embeddings(fresh.space, fresh.id, fresh.version, given.model, array[given.vector]);
        return;
    end if;
    -- NOTIFY makes commits wait for each other: one wakes the worker, which then empties the queue.
    if not exists (select from pgrecall.embedding_queue q where q.due_at <= now()) then
        perform pg_notify('pgrecall_backlog', '');
    end if;
    insert into pgrecall.embedding_queue (space, id, version) values (fresh.space, fresh.id, fresh.version)
    on conflict do nothing;
end
$$;
