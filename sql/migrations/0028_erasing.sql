-- What erasing needs: where a memory's words can be, found by it and kept out of the planner's statistics.

-- Some versions of a memory, from one number to another.
create type pgrecall.erasure as (space text, id uuid, first int, last int);
-- Of a version that was erased, what is needed to put in order what is left.
create type pgrecall.erased_version as (
    space text, id uuid, version int, thread text, head boolean, archived_at timestamptz, deleted_at timestamptz
);

-- How many rows of a table an erasure takes.
create type memory.erased as (what text, rows bigint);
grant usage on type memory.erased to pgrecall_agent, pgrecall_reader, pgrecall_service;

-- What a recall was answered with, so that its line goes with them.
alter table pgrecall.recall_log add column ids uuid[];

create index memories_derived on pgrecall.memories using gin (derived_from) where derived_from is not null;
create index memories_source on pgrecall.memories (space, source) where source is not null;
create index memories_session on pgrecall.memories (session) where session is not null;
create index memories_deleted on pgrecall.memories (deleted_at) where superseded_at is null and deleted_at is not null;

-- Statistics are copies of values. No plan is made by these columns' own.
alter table pgrecall.memories
    alter column content set statistics 0,
    alter column title set statistics 0,
    alter column metadata set statistics 0,
    alter column source set statistics 0,
    alter column key set statistics 0,
    alter column identity_hash set statistics 0,
    alter column salt set statistics 0;
alter table pgrecall.embeddings
    alter column embedding set statistics 0,
    alter column own set statistics 0;
alter table pgrecall.query_embeddings alter column embedding set statistics 0;
alter table pgrecall.recall_log alter column query set statistics 0;
alter table pgrecall.links alter column relation set statistics 0;

-- What the next maintenance has to do; lines, not a flag, so that nobody waits for another's transaction.
create table pgrecall.upkeep (
    id uuid not null default gen_random_uuid(),
    task text not null,
    since timestamptz not null default now()
);
alter table pgrecall.upkeep enable row level security;
