-- Move what recalls left in the spool into the recall log, and count each memory's use: behind the answers, many at
-- once. Answers how many lines there were.
create or replace function pgrecall.collect_recalls(batch int default 10000) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    lines pgrecall.recall_spool[];
begin
    -- Of two that collect at once, each takes what the other has not locked.
    with due as (
        select s.ctid as place from pgrecall.recall_spool s limit batch for update skip locked
    ), taken as (
        delete from pgrecall.recall_spool s using due where s.ctid = due.place
        returning s
    )
    select array_agg(t.s) into lines from taken t;
    insert into pgrecall.recall_log (
        space, id, at, agent, query, mode, results, lexical_hits, vector_hits, took_ms, degraded, ids)
    select l.space, pgrecall.new_id(), l.at, l.agent, l.query, l.mode, cardinality(l.ids), l.lexical_hits,
        l.vector_hits, l.took_ms, l.degraded, l.ids
    from unnest(lines) l
    -- What was answered with a memory that has been erased since is not told.
    where not exists (
        select from unnest(l.ids) as answered(id)
        where not exists (select from pgrecall.memories m where m.id = answered.id))
    order by l.at;
    insert into pgrecall.usage as u (space, id, uses, last_used_at)
    select m.space, m.id, count(*), max(l.at)
    from unnest(lines) l
    cross join unnest(l.ids) as used(id)
    join pgrecall.memories m on m.id = used.id and m.superseded_at is null
    group by m.space, m.id
    order by m.space, m.id
    on conflict (space, id) do update
    set uses = u.uses + excluded.uses, last_used_at = greatest(u.last_used_at, excluded.last_used_at);
    return coalesce(cardinality(lines), 0);
end
$$;
grant execute on function pgrecall.collect_recalls(int) to pgrecall_service;
