-- A recall for reviewers: what recall() answers, and among it by score what waits in quarantine.
create or replace function pgrecall.recall_with_held(
    query text, k int, space text, kinds text[], entity text, tags text[], since timestamptz, until timestamptz,
    as_of timestamptz, min_importance real, min_confidence real, mode text, rrf_k int, weights real[],
    include text[], skip int, branch text, query_embedding text
) returns setof memory.recalled
language plpgsql stable rows 10
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    s pgrecall.scope;
begin
    perform pgrecall.check_recall(query, k, skip, kinds, mode, rrf_k, weights, include, branch);
    s.space := recall_with_held.space;
    s.kinds := recall_with_held.kinds;
    s.tags := recall_with_held.tags;
    s.since := since;
    s.until := until;
    s.as_of := as_of;
    s.min_importance := coalesce(recall_with_held.min_importance, 0);
    s.min_confidence := coalesce(recall_with_held.min_confidence, 0);
    s.superseded := true;
    if recall_with_held.entity is not null then
        s.principals := pgrecall.principals();
        s.entities := array(
            select pgrecall.entity_name(n) from unnest(pgrecall.names_of(recall_with_held.entity, s)) n);
    end if;
    return query
    with found as (
        select r.* from memory.recall(
            query, least(k + skip, 1000), recall_with_held.space, recall_with_held.kinds, recall_with_held.entity,
            recall_with_held.tags, since, until, as_of, recall_with_held.min_importance, recall_with_held.min_confidence,
            mode, rrf_k, weights, array_remove(include, 'quarantined'), 0, branch, query_embedding) r
        union all
        select h.* from pgrecall.held_hits(query, mode, s, rrf_k, k + skip) h
    )
    select (row_number() over (order by f.score desc, f.id, f.version))::int, f.score, f.id, f.version, f.space, f.agent,
        f.kind, f.title, f.content, f.entity, f.tags, f.importance, f.confidence, f.pinned, f.event_at, f.created_at,
        f.lexical_rank, f.vector_rank, f.graph_hops, f.distance, max(f.degraded) over ()
    from found f
    order by f.score desc, f.id, f.version
    limit k offset skip;
end
$$;
