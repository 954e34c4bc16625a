-- What resembles a memory among what the session sees in its space, the likest first: what says nearly the same,
-- and what says of the same thing something else. Pairs that somebody has looked at and left both are not told again
-- until one of them changes.
create or replace function pgrecall.resemblances(head pgrecall.memories) returns setof pgrecall.resemblance
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- What this calls would be planned anew each time under the caller's force_custom_plan: ten times as long.
set plan_cache_mode = force_generic_plan
-- A plan that was made while the store was empty would go on reading all of it as it fills.
set enable_seqscan = off
as $$
declare
    -- Below these nobody would take the one for the other; docs/duplicates.md has the figures.
    like_words constant real := 0.5;
    like_meaning constant real := 0.035;
    s pgrecall.scope;
    said pgrecall.statement;
    about text[];
    called text[];
    near pgrecall.neighbour[];
begin
    s.principals := pgrecall.principals();
    s.shared := pgrecall.shared_ids();
    s.space := head.space;
    s.min_importance := 0;
    s.min_confidence := 0;
    called := array(select pgrecall.entity_name(n) from unnest(pgrecall.names_of(head.entity, s)) n);
    near := array(select n from pgrecall.neighbours(head, s, called, 12) n);
    near := near || array(
        select m from pgrecall.neighbours_by_meaning(head, s, array(select n.id from unnest(near) n), 8) m);
    if cardinality(near) = 0 then
        return;
    end if;
    said := pgrecall.statement_of(pgrecall.told_content(head.content), head.language);
    about := pgrecall.stems_of(array[head.entity]);
    return query
    select m.id, m.version, m.title, t.content, n.overlap, n.distance, d.what is not null, case
            when d.what is not null then d.of || ', ' || d.what
            when pgrecall.said(t.content) = pgrecall.said(pgrecall.told_content(head.content)) then 'the same words'
            when n.overlap >= like_words then round(100 * n.overlap) || ' % of the words are the same'
            else 'nearly the same meaning' end
    from (select u.id, u.version, max(u.overlap) as overlap, min(u.distance) as distance from unnest(near) u group by 1, 2) as n
    cross join lateral (
        select m.* from pgrecall.memories m
        where m.space = head.space and m.id = n.id and m.version = n.version
        limit 1 -- one by one: see above
    ) as m
    cross join lateral (select pgrecall.told_content(m.content) as content) as t
    cross join lateral pgrecall.statement_of(t.content, m.language) as o
    cross join lateral pgrecall.different(head, m::pgrecall.memories, said, o, about, called) as d
    where (d.what is not null or not d.apart and (n.overlap >= like_words or n.distance <= like_meaning))
        and not exists (
            select from pgrecall.links l
            where l.space = head.space and l.relation = 'both stand' and l.created_at >= greatest(m.created_at, head.created_at)
                and (l.source, l.target) in ((head.id, m.id), (m.id, head.id)))
    order by d.what is not null desc, n.overlap desc nulls last, n.distance, m.id;
end
$$;
