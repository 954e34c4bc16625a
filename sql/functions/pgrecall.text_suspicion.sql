-- How much a text looks like an instruction to whoever reads it, 0 to 1, and why. Signs add up as independent
-- doubts do: two of 0.5 make 0.75. Each reason counts once, by its strongest sign.
create or replace function pgrecall.text_suspicion(value text) returns pgrecall.suspicion
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Far longer than any attack needs to be; the rest is looked at from its end.
    most constant int := 20000;
    looked_at text := case when length(value) <= 2 * most then value else left(value, most) || E'\n' || right(value, most) end;
    result pgrecall.suspicion;
begin
    with found as materialized (
        select r.how, s.reason, s.weight
        from pgrecall.readings(looked_at) r cross join lateral pgrecall.pattern_signals(r.body) s
    ), signs as (
        select f.reason, f.weight from found f
        union all
        select h.reason, h.weight from pgrecall.hidden_signals(looked_at) h
        union all
        -- Words that stand out only once they are decoded were meant to be hidden.
        select 'hidden: ' || f.how, 0.7::real
        from found f
        where f.how <> 'plain' and f.weight >= 0.3
            and not exists (select from found p where p.how = 'plain' and p.reason = f.reason)
    ), strongest as (
        select s.reason, max(s.weight) as weight from signs s group by s.reason
    )
    select (1 - exp(sum(ln(1 - s.weight))))::real, array_agg(s.reason order by s.weight desc, s.reason)
    into result.score, result.reasons
    from strongest s;
    result.score := coalesce(result.score, 0);
    result.reasons := coalesce(result.reasons, '{}');
    return result;
end
$$;
