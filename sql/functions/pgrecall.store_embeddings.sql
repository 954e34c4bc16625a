-- Store a version's chunk vectors ('[…]' texts) in place of what it had of the model.
-- False when the version is gone, so that the worker knows its lease was for nothing.
create or replace function pgrecall.store_embeddings(
    target text, memory_id uuid, of_version int, with_model text, chunks text[]
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    version_row pgrecall.memories;
begin
    select * into version_row from pgrecall.memories m
    where m.space = target and m.id = memory_id and m.version = of_version
    for share;
    -- A vector of the model that only serves until another has come leaves that one's to be made.
    if version_row.id is null or with_model = pgrecall.target_model() then
        delete from pgrecall.embedding_queue q
        where q.space = target and q.id = memory_id and q.version = of_version;
    end if;
    if version_row.id is null then
        return false;
    end if;
    delete from pgrecall.embeddings e
    where e.space = target and e.id = memory_id and e.version = of_version and e.model = with_model;
    insert into pgrecall.embeddings (space, id, version, model, chunk, head, readers, embedding)
    select target, memory_id, of_version, with_model, c.number - 1,
        version_row.superseded_at is null, version_row.readers, c.vector::public.halfvec
    from unnest(chunks) with ordinality as c(vector, number);
    if version_row.thread is not null and version_row.superseded_at is null then
        perform pgrecall.mix_thread(target, memory_id, of_version, with_model);
        perform pgrecall.mix_neighbours(version_row);
    end if;
    return true;
end
$$;
grant execute on function pgrecall.store_embeddings(text, uuid, int, text, text[]) to pgrecall_service;
