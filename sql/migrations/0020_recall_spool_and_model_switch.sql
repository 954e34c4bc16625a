-- Every recall, by whatever road, leaves a line here; a pass behind moves the lines into pgrecall.recall_log.
-- Unlogged, so that a recall that wrote nothing else commits without waiting for the disk: a crash loses the
-- lines of its last second. Without a key, so that a line is one row appended. Local to each node on Citus.
create unlogged table pgrecall.recall_spool (
    at timestamptz not null,
    space text not null,
    agent text not null,
    query text not null,
    mode text not null,
    ids uuid[] not null,
    lexical_hits int not null,
    vector_hits int not null,
    took_ms real not null,
    degraded text
);
alter table pgrecall.recall_spool enable row level security;

-- Recalls were handed over by the fronts, and are now fetched from the spool.
drop function if exists pgrecall.log_recalls(jsonb);

-- A change of the model: the current one serves until the coming one has a vector of every head, then they swap.
-- `total` and `waiting` say how many heads there were when it began, and how many had no new vector a moment ago.
-- A retired model's vectors stay for a while, so that going back costs nothing.
alter table pgrecall.embedding_models
    add column coming boolean not null default false,
    add column total bigint,
    add column waiting bigint,
    add column retired_at timestamptz,
    add check (not (current and coming));
create unique index on pgrecall.embedding_models (coming) where coming;
update pgrecall.embedding_models set retired_at = now() where not current;

-- Their work is done by others now, or with other arguments.
drop function if exists pgrecall.why_no_vector(text);
