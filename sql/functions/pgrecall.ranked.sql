-- The versions that answer a text, best first, each with all the reasons for its place: what recall() and
-- explain_recall() both read. Takes recall()'s arguments. Its own plan is kept, which saves 7 ms a call; the legs
-- plan for each call's values. The recency and the graph leg cost nothing unless asked for.
create or replace function pgrecall.ranked(
    query text, k int, space text, kinds text[], entity text, tags text[], since timestamptz, until timestamptz,
    as_of timestamptz, min_importance real, min_confidence real, mode text, rrf_k int, weights real[],
    include text[], skip int, branch text, query_embedding text
) returns setof pgrecall.ranked_hit
language plpgsql stable rows 10
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    s pgrecall.scope;
    given record;
    dated record;
    pool int := 100;
    recency_weight real := coalesce(weights[3], 0);
    graph_weight real := coalesce(weights[4], 0);
    -- What lacks the quoted phrases comes after all that holds them, however near it is.
    unquoted real := case when mode = 'hybrid' and pgrecall.required_phrases(query) is not null then 0.0001 else 1 end;
begin
    perform pgrecall.begin_recall();
    perform pgrecall.check_recall(query, k, skip, kinds, mode, rrf_k, weights, include, branch);
    rrf_k := coalesce(rrf_k, 5);
    s := (
        pgrecall.principals(), ranked.space, ranked.kinds, null, ranked.tags, since, until, as_of,
        coalesce(min_importance, 0), coalesce(min_confidence, 0),
        'superseded' = any (include), 'archived' = any (include), 0, pgrecall.shared_ids());
    if ranked.entity is not null then
        s.entities := array(select pgrecall.entity_name(n) from unnest(pgrecall.names_of(ranked.entity, s)) n);
    end if;
    dated := pgrecall.narrow_to_dates(query, mode, s);
    s := dated.s;
    s.visible := pgrecall.visible_rows(s);
    if mode in ('hybrid', 'vector') and not dated.listed then
        given := pgrecall.vectors_for(pgrecall.known_embedding(query, query_embedding));
        if given.missing is not null then
            perform pgrecall.say_degraded(given.missing);
        end if;
    else
        given := pgrecall.vectors_for('none');
        given.missing := null;
    end if;
    -- Doubling steps, so that the pages of one answer come from one pool.
    while pool < 2 * (k + skip) loop
        pool := pool * 2;
    end loop;
    return query
    with lexical as materialized (
        select h.* from pgrecall.lexical_leg(dated.words, s, pool) h
        where mode in ('hybrid', 'lexical') or (mode = 'vector' and given.missing is not null)
        union all
        -- Every text contains the empty one: a query of only dates lists its span, newest first.
        select h.* from pgrecall.exact_leg(dated.words, s, pool) h where mode = 'exact' or dated.listed
    ), vector as materialized (
        select h.*, 1 - (h.distance - min(h.distance) over ())
            / nullif(max(h.distance) over () - min(h.distance) over (), 0) as closeness
        from pgrecall.vector_leg(given.model, given.vector, s, pool * 3 / 5) h
        where mode in ('hybrid', 'vector') and given.missing is null and not dated.listed
            -- The lexical leg is over when the clock is looked at; where it found nothing, the clock does not count.
            and (mode = 'vector' or not exists (select from lexical) or not pgrecall.late('the vector leg'))
    ), found as materialized (
        select space, id, version, l.rank as lexical_rank, v.rank as vector_rank, v.distance,
            pgrecall.fused_score(l.rank, l.closeness, v.rank, coalesce(v.closeness, 1)::real, rrf_k, weights) as score
        from lexical l full join vector v using (space, id, version)
    ), graph as materialized (
        select g.*
        from pgrecall.graph_leg(array(
            select row(f.space, f.id, f.version, 0, row_number() over (order by f.score desc, f.id, f.version))::pgrecall.graph_hit
            from found f order by f.score desc, f.id, f.version limit 10), 2, 100, s, pool) g
        where graph_weight > 0 and (not exists (select from found) or not pgrecall.late('the graph leg'))
    ), recent as materialized (
        select space, id, version, row_number() over (order by m.happened_at desc, id, version)::int as rank
        from (select space, id, version from found union select space, id, version from graph) as candidate
        join pgrecall.memories m using (space, id, version)
        where recency_weight > 0
    ), fused as materialized (
        select space, id, version, f.lexical_rank, f.vector_rank, r.rank as recency_rank, g.rank as graph_rank,
            g.hops, f.distance, ((coalesce(f.score, 0) + coalesce(recency_weight / (rrf_k + r.rank), 0)
                + coalesce(graph_weight / (rrf_k + g.rank), 0))
                * case when f.lexical_rank is null then unquoted else 1 end)::real as score
        from found f full join graph g using (space, id, version) left join recent r using (space, id, version)
    ), weighed as (
        select f.*, pgrecall.ranking_factors(
            m.importance, m.confidence, m.pinned, m.kind, m.metadata, m.happened_at, coalesce(s.as_of, now())) as factors
        from fused f join pgrecall.memories m using (space, id, version)
        -- No factors lift what is further below the last place of the answer: only these need be fetched.
        where f.score >= coalesce((select l.score from fused l order by l.score desc offset k + skip - 1 limit 1), 0) / 1.2
        offset 0
    ), scored as (
        select w.*, (w.score * (factors).importance * (factors).confidence * (factors).pinned * (factors).recency)::real as final
        from weighed w
    )
    select row_number() over (order by final desc, id, version)::int, space, id, version, lexical_rank, vector_rank,
        recency_rank, graph_rank, hops, distance, score, factors, final,
        nullif(concat_ws('; ', given.missing, given.partial, dated.unmet, pgrecall.left_out()), '')
    from scored
    order by final desc, id, version
    limit k offset skip;
    -- An answer without rows has it too.
    perform set_config('pgrecall.degraded', concat_ws('; ', given.missing, given.partial, dated.unmet, pgrecall.left_out()), true);
end
$$;
