-- Why recall() of the same arguments puts each memory where it does: ranks in the legs and the factors.
create or replace function memory.explain_recall(
    query text, k int default 10, space text default null, kinds text[] default null,
    entity text default null, tags text[] default null, since timestamptz default null,
    until timestamptz default null, as_of timestamptz default null, min_importance real default 0,
    min_confidence real default 0, mode text default 'hybrid', rrf_k int default null,
    weights real[] default null, include text[] default '{}', skip int default 0,
    branch text default null, query_embedding memory.query_embedding default null
) returns setof memory.explained
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
    return query
    select r.rank, r.id, r.version, r.lexical_rank, r.vector_rank, r.recency_rank, r.graph_rank, r.graph_hops,
        r.distance, r.fused, (r.factors).importance, (r.factors).confidence, (r.factors).pinned,
        (r.factors).recency, r.score, r.degraded
    from pgrecall.ranked(
        query, k, explain_recall.space, explain_recall.kinds, explain_recall.entity, explain_recall.tags,
        since, until, as_of, explain_recall.min_importance, explain_recall.min_confidence, mode, rrf_k, weights, include, skip, branch, query_embedding) r
    order by r.rank;
end
$$;
grant execute on function memory.explain_recall to pgrecall_agent, pgrecall_reader, pgrecall_service;
