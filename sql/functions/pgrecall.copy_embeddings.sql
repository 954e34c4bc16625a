-- Give the next version the vectors of a head that says the same; false where that has none of the model in use.
create or replace function pgrecall.copy_embeddings(head pgrecall.memories, next pgrecall.memories) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    current_model text := (select e.model from pgrecall.embedding_models e where e.current);
begin
    insert into pgrecall.embeddings (space, id, version, model, chunk, head, readers, embedding)
    select e.space, e.id, next.version, e.model, e.chunk, true, next.readers, coalesce(e.own, e.embedding)
    from pgrecall.embeddings e
    where e.space = head.space and e.id = head.id and e.version = head.version and e.model = current_model;
    if not found then
        return false;
    end if;
    if next.thread is not null then
        perform pgrecall.mix_thread(next.space, next.id, next.version, current_model);
        perform pgrecall.mix_neighbours(next);
    end if;
    return true;
end
$$;
