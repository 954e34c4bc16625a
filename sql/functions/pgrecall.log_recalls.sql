-- Write down what recalls were answered with, and count each memory's use. Called behind the answers,
-- never on their path, so that a recall needs no write.
create or replace function pgrecall.log_recalls(entries jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into pgrecall.recall_log (
        space, id, at, agent, query, mode, results, lexical_hits, vector_hits, took_ms, degraded)
    select coalesce(e.space, '~' || e.agent), pgrecall.new_id(), e.at, e.agent, e.query, e.mode,
        coalesce(cardinality(e.ids), 0), e.lexical_hits, e.vector_hits, e.took_ms, e.degraded
    from jsonb_to_recordset(entries) as e(
        space text, at timestamptz, agent text, query text, mode text, ids uuid[],
        lexical_hits int, vector_hits int, took_ms real, degraded text);
    insert into pgrecall.usage as u (space, id, uses, last_used_at)
    select m.space, m.id, count(*), max(e.at)
    from jsonb_to_recordset(entries) as e(at timestamptz, ids uuid[])
    cross join unnest(e.ids) as used(id)
    join pgrecall.memories m on m.id = used.id and m.superseded_at is null
    group by m.space, m.id
    order by m.space, m.id
    on conflict (space, id) do update
    set uses = u.uses + excluded.uses, last_used_at = greatest(u.last_used_at, excluded.last_used_at);
end
$$;
