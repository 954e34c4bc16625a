-- Which versions an erasure takes. By id, key or tag: every version of a memory that any version of fits. By who
-- wrote it, in which session or from which source: that version and all later ones, which build on it; what stood
-- before is no part of it. With them go the memories that were made of them. Only what the agent may erase.
create or replace function pgrecall.erasures(
    ids uuid[], space text, key text, tag text, agent text, session uuid, source text, who text
) returns setof pgrecall.erasure
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_variable
declare
    whole boolean := agent is null and session is null and source is null;
begin
    return query
    with recursive fitting as (
        select m.space, m.id, min(m.version) as first
        from pgrecall.memories m
        where (ids is null or m.id = any (ids))
            and (space is null or m.space = space)
            and (key is null or m.key = key)
            and (tag is null or m.tags @> array[tag])
            and (agent is null or coalesce(m.written_by, m.agent) = agent)
            and (session is null or m.session = session)
            and (source is null or m.source = source)
        group by m.space, m.id
    ), taken as (
        select f.space, f.id, case when whole then 1 else f.first end as first
        from fitting f
        join pgrecall.memories h on h.space = f.space and h.id = f.id and h.superseded_at is null
        where pgrecall.may_erase(h, who)
        union
        select h.space, h.id, 1
        from taken t
        join pgrecall.memories d on d.derived_from @> array[t.id]
        join pgrecall.memories h on h.space = d.space and h.id = d.id and h.superseded_at is null
        where pgrecall.may_erase(h, who)
    )
    select t.space, t.id,
        case when min(t.first) <= (select min(o.version) from pgrecall.memories o where o.space = t.space and o.id = t.id)
            then 1 else min(t.first) end,
        2147483647
    from taken t
    group by t.space, t.id
    order by t.space, t.id;
end
$$;
