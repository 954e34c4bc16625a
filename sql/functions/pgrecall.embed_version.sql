-- Give a new version its vector if one came with it, or queue it for the worker.
create or replace function pgrecall.embed_version(fresh pgrecall.memories, embedding text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    given record := pgrecall.parse_embedding(embedding);
    known pgrecall.embedding_models;
begin
    select * into known from pgrecall.embedding_models e
    where given.vector is not null and e.model = given.model and (e.current or e.coming);
    if known.model is not null then
        perform pgrecall.store_embeddings(fresh.space, fresh.id, fresh.version, given.model, array[given.vector]);
    end if;
    -- During a change of the model both are wanted.
    if known.model is null or exists (select from pgrecall.embedding_models e where e.coming) then
        perform pgrecall.queue_versions(array[fresh]);
    end if;
end
$$;
