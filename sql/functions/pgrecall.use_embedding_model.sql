-- Make a model the one that every head shall have a vector of: its index stands, and what lacks one waits in the
-- queue. Where vectors of another model serve, that one stays current until pgrecall.settle_embeddings() swaps them.
create or replace function pgrecall.use_embedding_model(name text, size int) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    known pgrecall.embedding_models;
    serving text;
    at_once boolean;
begin
    -- One process at a time: two `up` on one database start together.
    lock table pgrecall.embedding_models in share row exclusive mode;
    select * into known from pgrecall.embedding_models e where e.model = name;
    if found and known.dimension <> size then
        raise exception 'model "%" has % dimensions here, not %', name, known.dimension, size using errcode = '22023';
    end if;
    select e.model into serving from pgrecall.embedding_models e where e.current;
    at_once := serving is null or serving = name
        or not exists (select from pgrecall.embeddings e where e.head and e.model = serving);
    if exists (select from pgrecall.embedding_models e where e.coming and e.model <> name) then
        -- What waits only for the model that is not to come after all.
        delete from pgrecall.embedding_queue q
        where exists (
            select from pgrecall.embeddings e
            where e.space = q.space and e.id = q.id and e.version = q.version and e.model = name);
    end if;
    update pgrecall.embedding_models e set coming = false, retired_at = now() where e.coming and e.model <> name;
    if at_once then
        update pgrecall.embedding_models e set current = false, retired_at = now() where e.current and e.model <> name;
    end if;
    insert into pgrecall.embedding_models (model, dimension, current, coming) values (name, size, at_once, not at_once)
    on conflict (model) do update
    set current = at_once, coming = not at_once, retired_at = null;
    execute format(
        'create index if not exists %I on pgrecall.embeddings '
        'using hnsw ((embedding::public.halfvec(%s)) public.halfvec_cosine_ops) where head and model = %L',
        'embeddings_' || name, size, name);
    insert into pgrecall.embedding_queue (space, id, version)
    select m.space, m.id, m.version from pgrecall.memories m
    where m.superseded_at is null and not exists (
        select from pgrecall.embeddings e
        where e.space = m.space and e.id = m.id and e.version = m.version and e.model = name)
    on conflict do nothing;
    if not at_once then
        update pgrecall.embedding_models e
        set total = (select count(*) from pgrecall.memories m where m.superseded_at is null)
        where e.coming;
        perform pgrecall.settle_embeddings();
    end if;
end
$$;
grant execute on function pgrecall.use_embedding_model(text, int) to pgrecall_service;
