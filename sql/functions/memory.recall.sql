-- The memories that answer a text, best first: a lexical and a vector leg, fused by their ranks and weighed.
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
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_column
declare
    hits pgrecall.ranked_hit[];
begin
    if 'quarantined' = any (include) then
        return query select r.* from pgrecall.recall_with_held(
            query, k, recall.space, recall.kinds, recall.entity, recall.tags, since, until, as_of, recall.min_importance,
            recall.min_confidence, mode, rrf_k, weights, include, skip, branch, query_embedding) r;
        return;
    end if;
    hits := array(
        select r from pgrecall.ranked(
            query, k, recall.space, recall.kinds, recall.entity, recall.tags, since, until, as_of,
            recall.min_importance, recall.min_confidence, mode, rrf_k, weights, include, skip, branch,
            query_embedding) r);
    perform pgrecall.spool_recall(query, recall.space, mode, hits, nullif(current_setting('pgrecall.degraded'), ''));
    return query
    select r.rank, r.score, m.id, m.version, m.space, m.agent, m.kind, m.title,
        pgrecall.told_content(m.content), m.entity, m.tags,
        m.importance, m.confidence, m.pinned, m.event_at, m.created_at,
        r.lexical_rank, r.vector_rank, r.graph_hops, r.distance, r.degraded
    from unnest(hits) r
    join pgrecall.memories m using (space, id, version)
    order by r.rank;
end
$$;
grant execute on function memory.recall to pgrecall_agent, pgrecall_reader, pgrecall_service;
