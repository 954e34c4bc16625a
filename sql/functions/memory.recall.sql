-- The memories that answer a text, best first: a lexical and a vector leg, fused by their ranks.
create or replace function memory.recall(
    query text, k int default 10, space text default null, kinds text[] default null,
    entity text default null, tags text[] default null, since timestamptz default null,
    until timestamptz default null, as_of timestamptz default null, min_importance real default 0,
    min_confidence real default 0, mode text default 'hybrid', rrf_k int default null,
    weights real[] default null, include text[] default '{}', skip int default 0,
    branch text default null, query_embedding memory.query_embedding default null
) returns setof memory.recalled
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    s pgrecall.scope;
    given record := pgrecall.parse_embedding(query_embedding);
    missing text;
    dated record;
    pool int := 200;
begin
    perform pgrecall.check_recall(query, k, skip, kinds, mode, rrf_k, weights, include, branch);
    s := (
        pgrecall.principals(), recall.space, recall.kinds, recall.entity, recall.tags, since, until, as_of,
        coalesce(min_importance, 0), coalesce(min_confidence, 0),
        'superseded' = any (include), 'archived' = any (include), 0);
    dated := pgrecall.narrow_to_dates(query, mode, s);
    s := dated.s;
    s.visible := pgrecall.visible_rows(s);
    if mode in ('hybrid', 'vector') and not dated.listed then
        missing := pgrecall.why_no_vector(query_embedding);
        if missing is not null then
            perform pgrecall.say_degraded(missing);
        end if;
    end if;
    -- Doubling steps, so that the pages of one answer come from one pool.
    while pool < 2 * (k + skip) loop
        pool := pool * 2;
    end loop;
    return query
    with lexical as materialized (
        select h.* from pgrecall.lexical_leg(dated.words, s, pool) h
        where mode in ('hybrid', 'lexical') or (mode = 'vector' and missing is not null)
        union all
        -- Every text contains the empty one: a query of only dates lists its span, newest first.
        select h.* from pgrecall.exact_leg(dated.words, s, pool) h where mode = 'exact' or dated.listed
    ), vector as materialized (
        select h.*, 1 - (h.distance - min(h.distance) over ())
            / nullif(max(h.distance) over () - min(h.distance) over (), 0) as nearness
        from pgrecall.vector_leg(given.model, given.vector, s, pool) h
        where mode in ('hybrid', 'vector') and missing is null and not dated.listed
    ), fused as (
        select space, id, version, l.rank as lexical_rank, v.rank as vector_rank, v.distance,
            pgrecall.fused_score(l.rank, l.share, v.rank, coalesce(v.nearness, 1)::real, rrf_k, weights) as score
        from lexical l full join vector v using (space, id, version)
    ), ordered as (
        select f.*, row_number() over (order by f.score desc, f.id, f.version)::int as rank
        from fused f
        order by f.score desc, f.id, f.version
        limit k offset skip
    )
    select o.rank, o.score, m.id, m.version, m.space, m.agent, m.kind, m.title, m.content, m.entity, m.tags,
        m.importance, m.confidence, m.pinned, m.event_at, m.created_at,
        o.lexical_rank, o.vector_rank, null::int, o.distance, nullif(concat_ws('; ', missing, dated.unmet), '')
    from ordered o join pgrecall.memories m using (space, id, version)
    order by o.rank;
end
$$;
grant execute on function memory.recall to pgrecall_agent, pgrecall_reader, pgrecall_service;
