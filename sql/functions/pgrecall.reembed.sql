-- See that a version which became the head again is found by its vectors, and that its neighbours lean on it.
create or replace function pgrecall.reembed(head pgrecall.memories) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    current_model text := (select e.model from pgrecall.embedding_models e where e.current);
begin
    update pgrecall.embeddings e set head = true, readers = head.readers
    where e.space = head.space and e.id = head.id and e.version = head.version;
    if not exists (
        select from pgrecall.embeddings e
        where e.space = head.space and e.id = head.id and e.version = head.version and e.model = current_model)
    then
        perform pgrecall.queue_versions(array[head]);
    elsif head.thread is not null then
        perform pgrecall.mix_thread(head.space, head.id, head.version, current_model);
    end if;
    perform pgrecall.mix_neighbours(head);
end
$$;
