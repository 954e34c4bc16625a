-- About how many rows a scope leaves. It decides only how the legs go about it: their answers are the same
-- either way. Readers and spaces are known by their shares; by how much other filters narrow a large set is the
-- planner's estimate, because counting would read the whole store for a filter that leaves little of it.
create or replace function pgrecall.visible_rows(s pgrecall.scope) returns real
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    enough constant int := 10000;
    total real := pgrecall.memory_count();
    narrowed boolean := s.kinds is not null or s.entities is not null or s.tags is not null or s.since is not null
        or s.until is not null or s.min_importance > 0 or s.min_confidence > 0;
    visible real;
    -- A reader that is not among the commonest has fewer rows than any of those.
    unlisted real;
begin
    if not exists (select from pgrecall.shares) then
        visible := pgrecall.counted_rows(s, enough);
        return case when visible > enough then greatest(visible, total) else visible end;
    end if;
    select h.share / 2 into unlisted from pgrecall.shares h where h.subject = 'reader' order by h.share limit 1;
    unlisted := least(unlisted, 1000 / total, 0.001);
    visible := total
        * least(1, (
            select sum(coalesce(h.share, unlisted)) + coalesce(cardinality(s.shared), 0) / greatest(total, 1)
            from unnest(s.principals) as p(principal)
            left join pgrecall.shares h on h.subject = 'reader' and h.value = p.principal))
        * case when s.space is null then 1 else coalesce(
            (select h.share from pgrecall.shares h where h.subject = 'space' and h.value = s.space), 0.001) end;
    if narrowed and visible > enough then
        visible := least(visible, pgrecall.estimated_rows(s));
    end if;
    return visible;
end
$$;
