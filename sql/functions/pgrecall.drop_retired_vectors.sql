-- Drop the index and, some at a time, the vectors of models that were replaced so long ago; then the models.
create or replace function pgrecall.drop_retired_vectors(keep interval) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    batch constant int := 20000;
    gone text;
    dropped int;
begin
    for gone in select e.model from pgrecall.embedding_models e where e.retired_at < now() - keep order by e.model loop
        execute format('drop index if exists pgrecall.%I', 'embeddings_' || gone);
        delete from pgrecall.embeddings e using (
            select o.space, o.id, o.version, o.chunk from pgrecall.embeddings o where o.model = gone limit batch
        ) as old
        where e.space = old.space and e.id = old.id and e.version = old.version and e.chunk = old.chunk
            and e.model = gone;
        get diagnostics dropped = row_count;
        if dropped < batch then
            delete from pgrecall.embedding_models e where e.model = gone and e.retired_at < now() - keep;
        end if;
    end loop;
end
$$;
