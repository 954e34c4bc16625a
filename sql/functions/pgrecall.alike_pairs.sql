-- Of the oldest thousand unimportant memories of a space that the session's agent may change, the pairs that are seen
-- by the same and have a third of the weight of their words in common; each both ways, and each memory with itself.
create or replace function pgrecall.alike_pairs(in_space text, at_most real) returns setof pgrecall.likeness
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    who text := memory.current_agent();
    seen_as pgrecall.viewer := pgrecall.viewer();
begin
    return query
    with candidate as materialized (
        select m.id, m.visibility, m.lexemes from pgrecall.memories m
        where m.space = in_space and m.superseded_at is null and m.archived_at is null and m.importance <= at_most
            and not m.pinned and pgrecall.readable(m.readers, m.id, seen_as) and (m.expires_at is null or m.expires_at > now())
            and (m.visibility <> 'private' or m.agent = who) and pgrecall.may_show(m, who)
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
    )
    select c.id, c.other, (c.weight / least(t.weight, o.weight))::real
    from common c join total t on t.id = c.id join total o on o.id = c.other
    where c.weight >= 0.34 * greatest(t.weight, o.weight);
end
$$;
