-- Of the oldest thousand unimportant memories of a space that the session's agent may change, the pairs that are seen
-- by the same and belong together: by a third of the weight of their words in common, or by their meaning; each both
-- ways, and each memory with itself. However large the space, no more than a thousand are compared.
create or replace function pgrecall.alike_pairs(in_space text, at_most real) returns setof pgrecall.likeness
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    -- Within it are 57 of 150 pairs of one subject, and none of 5,400 of two; see docs/duplicates.md.
    like_subject constant real := 0.07;
    who text := memory.current_agent();
    seen_as pgrecall.viewer := pgrecall.viewer();
    writes_here boolean := in_space = any (pgrecall.member_spaces('writer'));
begin
    return query
    with candidate as materialized (
        select m.id, m.version, m.visibility, m.lexemes from pgrecall.memories m
        where m.space = in_space and m.superseded_at is null and m.archived_at is null and m.importance <= at_most
            and not m.pinned and pgrecall.readable(m.readers, m.id, seen_as) and (m.expires_at is null or m.expires_at > now())
            -- What may_show() says, without asking it of every row.
            and (m.agent = who or m.visibility <> 'private' and writes_here)
        order by m.happened_at, m.id
        limit 1000
    ), word as materialized (
        select c.id, c.visibility, w.lexeme, count(*) over (partition by w.lexeme) as holders
        from candidate c cross join lateral unnest(c.lexemes) w
    ), weighed as materialized (
        select w.id, w.visibility, w.lexeme, ln(1 + (select count(*) from candidate) / w.holders::real) as weight
        from word w
        -- A word of everybody makes nobody alike, and as many pairs as there are.
        where w.holders <= 60
    ), total as (
        select w.id, sum(w.weight) as weight from weighed w group by w.id
    ), common as (
        select a.id, b.id as other, sum(a.weight) as weight
        from weighed a join weighed b on b.lexeme = a.lexeme and b.visibility = a.visibility
        group by a.id, b.id
    ), meaning as materialized (
        -- Of unit length, the inner product will do; made anew, they are not fetched from beside the table for each pair.
        select c.id, c.visibility, public.l2_normalize(coalesce(e.own, e.embedding)) as unit
        from candidate c
        join pgrecall.embedding_models d on d.current
        join pgrecall.embeddings e
            on e.space = in_space and e.id = c.id and e.version = c.version and e.model = d.model and e.chunk = 0
    ), near as (
        select a.id, b.id as other, 1 + (a.unit operator(public.<#>) b.unit) as distance
        from meaning a join meaning b on b.visibility = a.visibility and b.id >= a.id
        where 1 + (a.unit operator(public.<#>) b.unit) <= like_subject
    )
    select f.id, f.other, max(f.alike)::real
    from (
        select c.id, c.other, c.weight / least(t.weight, o.weight) as alike
        from common c join total t on t.id = c.id join total o on o.id = c.other
        where c.weight >= 0.34 * greatest(t.weight, o.weight)
        union all
        select p.id, p.other, 1 - n.distance / (2 * like_subject)
        from near n cross join lateral (values (n.id, n.other), (n.other, n.id)) as p(id, other)
    ) f
    group by f.id, f.other;
end
$$;
