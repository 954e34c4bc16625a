-- How many versions wait for a vector, and the model that recall() searches now. Where another model is coming this
-- notes how far it is, and makes it current once nothing waits for it that the old one has: what its maker refused
-- three times holds nobody up, nor does what was written a moment ago.
create or replace function pgrecall.settle_embeddings(out backlog bigint, out serving text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    hopeless constant int := 3;
    next_model text := (select e.model from pgrecall.embedding_models e where e.coming);
begin
    select count(*) into backlog from pgrecall.embedding_queue;
    select e.model into serving from pgrecall.embedding_models e where e.current;
    if next_model is null then
        return;
    end if;
    if exists (
        select from pgrecall.embedding_queue q
        where q.attempts < hopeless and exists (
            select from pgrecall.embeddings e
            where e.space = q.space and e.id = q.id and e.version = q.version and e.model = serving))
    then
        update pgrecall.embedding_models e set waiting = backlog where e.coming and e.waiting is distinct from backlog;
        return;
    end if;
    lock table pgrecall.embedding_models in share row exclusive mode;
    if exists (select from pgrecall.embedding_models e where e.model = next_model and e.coming) then
        update pgrecall.embedding_models e set current = false, retired_at = now() where e.current;
        update pgrecall.embedding_models e set current = true, coming = false, total = null, waiting = null where e.coming;
        serving := next_model;
    end if;
end
$$;
grant execute on function pgrecall.settle_embeddings() to pgrecall_service;
