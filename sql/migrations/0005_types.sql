-- The shapes that functions hand to each other.

-- What remember() was given; null means not named.
create type pgrecall.draft as (
    content text, space text, kind text, title text, entity text, tags text[],
    importance real, confidence real, visibility text, key text, pinned boolean,
    thread text, source text, event_at timestamptz, valid_from timestamptz, valid_until timestamptz,
    ttl interval, metadata jsonb, query_embedding text
);

-- What a write left: 'created', 'refined' (a new version of a keyed memory) or 'repeated' (it stood already).
create type pgrecall.written as (space text, id uuid, version int, outcome text);

-- Which rows a recall may look at: the caller's principals and the filters asked for; `visible` is
-- about how many they leave, and no part of the predicate.
create type pgrecall.scope as (
    principals text[], space text, kinds text[], entity text, tags text[],
    since timestamptz, until timestamptz, as_of timestamptz,
    min_importance real, min_confidence real, superseded boolean, archived boolean, visible real
);

-- One memory in one leg; rank begins at 1. A lexical score grows with relevance, a distance shrinks;
-- `share` is how much of the query's IDF weight the memory holds, 0 to 1.
create type pgrecall.lexical_hit as (space text, id uuid, version int, score real, share real, rank int);
create type pgrecall.vector_hit as (space text, id uuid, version int, distance real, rank int);

-- A row of recall(). A named type, because PL/pgSQL can't have a parameter and a result of one name.
create type memory.recalled as (
    rank int, score real, id uuid, version int, space text, agent text, kind text, title text, content text,
    entity text, tags text[], importance real, confidence real, pinned boolean, event_at timestamptz,
    created_at timestamptz, lexical_rank int, vector_rank int, graph_hops int, distance real, degraded text
);
grant usage on type memory.recalled to pgrecall_agent, pgrecall_reader, pgrecall_service;
