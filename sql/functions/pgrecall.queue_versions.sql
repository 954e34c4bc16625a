-- Put new versions into the queue for vectors, and wake the worker where it may be asleep.
create or replace function pgrecall.queue_versions(fresh pgrecall.memories[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    -- NOTIFY makes commits wait for each other: one wakes the worker, which then empties the queue.
    if not exists (select from pgrecall.embedding_queue q where q.due_at <= now()) then
        perform pg_notify('pgrecall_backlog', '');
    end if;
    insert into pgrecall.embedding_queue (space, id, version)
    select f.space, f.id, f.version from unnest(fresh) f
    on conflict do nothing;
end
$$;
