-- Lease up to `batch` versions that wait for a vector, newest first, so that a fresh memory does not
-- wait behind an import or a change of the model. An attempt that dies comes up again when its lease
-- ends, later each time, so that one bad text can't keep the worker busy. Nothing for a worker of another model than
-- every head shall have; during a change `unserved` says that the model that still serves has no vector of it.
create or replace function pgrecall.claim_unembedded(with_model text, batch int)
returns table (space text, id uuid, version int, embed_text text, unserved boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    serving text := (select e.model from pgrecall.embedding_models e where e.current);
begin
    if with_model is distinct from pgrecall.target_model() then
        return;
    end if;
    return query
    with due as (
        select q.space, q.id, q.version from pgrecall.embedding_queue q
        where q.due_at <= now()
        order by q.due_at desc, q.space, q.id, q.version
        limit batch
        for update skip locked
    ), leased as (
        update pgrecall.embedding_queue q
        set attempts = q.attempts + 1,
            due_at = now() + least(interval '30 seconds' * power(2, q.attempts), interval '1 hour')
        from due where q.space = due.space and q.id = due.id and q.version = due.version
        returning q.space, q.id, q.version
    )
    select m.space, m.id, m.version, concat_ws(E'\n', m.title, pgrecall.told_content(m.content)),
        with_model <> serving and not exists (
            select from pgrecall.embeddings e
            where e.space = m.space and e.id = m.id and e.version = m.version and e.model = serving)
    from leased join pgrecall.memories m using (space, id, version);
end
$$;
grant execute on function pgrecall.claim_unembedded(text, int) to pgrecall_service;
