-- Make a model the current one: its index stands, and every head that lacks its vector waits in the queue.
create or replace function pgrecall.use_embedding_model(name text, size int) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    known pgrecall.embedding_models;
begin
    -- One process at a time: two `up` on one database start together.
    lock table pgrecall.embedding_models in share row exclusive mode;
    select * into known from pgrecall.embedding_models e where e.model = name;
    if found and known.dimension <> size then
        raise exception 'model "%" has % dimensions here, not %', name, known.dimension, size using errcode = '22023';
    end if;
    update pgrecall.embedding_models e set current = false where e.current and e.model <> name;
    insert into pgrecall.embedding_models values (name, size, true)
    on conflict (model) do update set current = true;
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
end
$$;
grant execute on function pgrecall.use_embedding_model(text, int) to pgrecall_service;
