-- What ranking hands on: the graph leg's hits, the re-ranking factors, and a row with all of its reasons.

-- A memory reached over links; `rank` begins at 1, the fewest hops first.
create type pgrecall.graph_hit as (space text, id uuid, version int, hops int, rank int);

create type pgrecall.factors as (importance real, confidence real, pinned real, recency real);

-- One row of an answer before its content is fetched. `fused` is the legs' sum, `score` that times the factors.
create type pgrecall.ranked_hit as (
    rank int, space text, id uuid, version int, lexical_rank int, vector_rank int, recency_rank int,
    graph_rank int, graph_hops int, distance real, fused real, factors pgrecall.factors, score real, degraded text
);

-- A row of explain_recall().
create type memory.explained as (
    rank int, id uuid, version int, lexical_rank int, vector_rank int, recency_rank int, graph_rank int,
    graph_hops int, distance real, fused real, importance_factor real, confidence_factor real,
    pinned_factor real, recency_factor real, score real, degraded text
);
grant usage on type memory.explained to pgrecall_agent, pgrecall_reader, pgrecall_service;
