-- Give a new version its vector if one came with it, or queue it for the worker.
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
    else
        perform pgrecall.queue_versions(array[fresh]);
    end if;
end
$$;
