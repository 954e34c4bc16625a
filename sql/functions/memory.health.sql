-- What could be tidied among the memories that the session sees: a row for each concern that there is, with how many
-- memories it is about, some of them, and what to do. Repeats and contradictions are looked for among the newest 50. Of
-- aliases it is the aliases that are counted; of what is held for review, what the session may review or wrote itself.
create or replace function memory.health(space text default null)
returns table (concern text, memories bigint, examples uuid[], advice text)
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    seen_as pgrecall.viewer := pgrecall.viewer();
    who text := memory.current_agent();
    reviews_all boolean := pgrecall.is_admin();
    model text := (select e.model from pgrecall.embedding_models e where e.current);
begin
    return query
    with head as materialized (
        select m.id, m.space, m.version, m.happened_at, m.confidence, m.pinned, m.expires_at, m.valid_until,
            pgrecall.said(m.content) as said, pgrecall.half_life_days(m.kind, m.metadata) as half_life,
            m.derived_from, u.last_used_at, m.created_at
        from pgrecall.memories m left join pgrecall.usage u on u.space = m.space and u.id = m.id
        where m.superseded_at is null and m.archived_at is null and pgrecall.readable(m.readers, m.id, seen_as)
            and (health.space is null or m.space = health.space)
    ), live as (
        select * from head h where h.expires_at is null or h.expires_at > now()
    ), newest as (
        select l.id from live l order by l.created_at desc, l.id desc limit 50
    ), near as materialized (
        select n.id, r.id as other, r.contradicts
        from newest n join pgrecall.memories m on m.id = n.id and m.superseded_at is null
        cross join lateral pgrecall.resemblances(m) r
    ), found as (
        select 'expired' as concern, h.id from head h where h.expires_at <= now()
        union all select 'ended', l.id from live l where l.valid_until <= now()
        union all select 'stale', l.id from live l
        where not l.pinned and l.half_life < 'infinity'
            and greatest(l.happened_at, l.created_at, l.last_used_at) < now() - l.half_life * interval '1 day'
        union all select 'low confidence', l.id from live l where l.confidence < 0.3
        union all select 'repeats', l.id from live l where exists (
            select from live o where o.said = l.said and o.space = l.space and o.id <> l.id)
        union all select 'near repeats', n.id from near n where not n.contradicts
        union all select 'contradictions', n.id from near n where n.contradicts
        union all select 'orphans', l.id from live l
        where l.derived_from is not null and not exists (
                select from pgrecall.memories o where o.id = any (l.derived_from) and pgrecall.readable(o.readers, o.id, seen_as))
            or exists (select from pgrecall.links k where k.space = l.space and k.source = l.id and not exists (
                select from pgrecall.memories o where o.space = k.space and o.id = k.target and o.superseded_at is null))
        union all select 'quarantined', q.id from pgrecall.quarantine q
        where (health.space is null or q.space = health.space)
            and (reviews_all or q.agent = who or 'admin:' || q.space = any (seen_as.principals))
        union all select 'without a vector', l.id from live l
        where model is not null and not exists (
            select from pgrecall.embeddings e
            where e.space = l.space and e.id = l.id and e.version = l.version and e.model = model)
    )
    select f.concern, count(distinct f.id), (array_agg(distinct f.id))[1:5], pgrecall.advice_on(f.concern)
    from found f group by f.concern
    union all
    select a.concern, a.aliases, a.examples, a.advice from pgrecall.alias_concerns(health.space, seen_as) a
    order by 2 desc, 1;
end
$$;
grant execute on function memory.health(text) to pgrecall_agent, pgrecall_reader;
