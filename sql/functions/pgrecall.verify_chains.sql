-- What memory.verify() answers, for whom its caller has found out who may see what; see broken_links().
create or replace function pgrecall.verify_chains(target text, who text, administered text[], expected_head bytea)
returns setof memory.verdict
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    with counted as (
        select e.space, e.agent, count(*) as events, max(e.sequence) as last, bool_or(e.hash = expected_head) as expected
        from pgrecall.events e
        where (target is null or e.space = target)
            and (administered is null or e.agent = who or e.space = any (administered))
        group by e.space, e.agent
    ), faults as (
        -- A broken chain first: what it commits to, and whether it erased something, is told by a whole one.
        select distinct on (f.space, f.agent) f.*
        from (
            select 1 as step, b.* from pgrecall.broken_links(target, who, administered) b
            union all
            select 2, u.* from pgrecall.uncommitted_versions(target, who, administered) u
        ) f
        order by f.space, f.agent, f.step, f.sequence nulls last, f.reason
    ), chains as (
        select coalesce(c.space, f.space) as space, coalesce(c.agent, f.agent) as agent, coalesce(c.events, 0) as events,
            coalesce(c.last, 0) as last, f.sequence, f.reason
        from counted c full join faults f on f.space = c.space and f.agent = c.agent
    ), unheld as (
        -- Of one chain it is said which; the hash of the empty chain is held by every chain.
        select case when (select count(*) from chains) = 1 then (select c.agent from chains c) end as agent
        where expected_head <> sha256('') and not exists (select from counted c where c.expected)
    )
    select c.space, c.agent, c.events, c.reason is null and u is null,
        case when c.reason is null and u is not null then c.last + 1 else c.sequence end,
        coalesce(c.reason, case when u is not null then
            'the head that was expected is not in the chain: its end was cut off or written anew' end)
    from chains c left join unheld u on u.agent = c.agent
    union all
    select target, null, 0, false, null, 'the head that was expected is in no chain: one was cut off, written anew or taken away'
    from unheld u where u.agent is null
    order by 1, 2;
end
$$;
