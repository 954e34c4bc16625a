-- Memories and what belongs to them. Every key starts with `space`, so that one space's rows stay together.

-- Every version of every memory; the head is the version that nothing superseded.
create table pgrecall.memories (
    space text not null,
    id uuid not null,
    version int not null check (version > 0),
    agent text not null,
    kind text not null
        check (kind in ('episodic', 'semantic', 'procedural', 'resource', 'strategic', 'identity')),
    visibility text not null check (visibility in ('private', 'shared', 'public')),
    readers text[] not null,
    title text,
    content text not null,
    entity text,
    tags text[] not null,
    importance real not null check (importance between 0 and 1),
    confidence real not null check (confidence between 0 and 1),
    pinned boolean not null,
    key text,
    key_owner text not null generated always as (case visibility when 'private' then agent else '' end) stored,
    thread text,
    source text,
    metadata jsonb not null,
    language text,
    event_at timestamptz,
    valid_from timestamptz,
    valid_until timestamptz,
    expires_at timestamptz,
    created_at timestamptz not null,
    superseded_at timestamptz,
    archived_at timestamptz,
    identity_hash bytea not null,
    salt bytea not null,
    lexemes tsvector not null generated always as (pgrecall.lexemes(title, entity, content, language)) stored,
    happened_at timestamptz not null generated always as (coalesce(event_at, created_at)) stored,
    primary key (space, id, version)
);
create unique index memories_head on pgrecall.memories (space, id) where superseded_at is null;
create unique index memories_key on pgrecall.memories (space, key_owner, key)
    where superseded_at is null and archived_at is null and key is not null;
-- An exact repeat by the same agent is the same memory, whoever of its writers comes first.
create unique index memories_identity on pgrecall.memories (space, agent, identity_hash)
    where superseded_at is null and archived_at is null;
create index memories_id on pgrecall.memories (id);
create index memories_lexemes on pgrecall.memories using gin (lexemes);
create index memories_readers on pgrecall.memories using gin (readers);
create index memories_entity on pgrecall.memories (space, lower(entity))
    where superseded_at is null and entity is not null;
create index memories_recent on pgrecall.memories (space, happened_at desc, id) where superseded_at is null;
create index memories_thread on pgrecall.memories (space, thread, happened_at, id)
    where superseded_at is null and thread is not null;

-- The models whose vectors stand in pgrecall.embeddings; one is current.
create table pgrecall.embedding_models (
    model text primary key,
    dimension int not null check (dimension between 1 and 4000),
    current boolean not null default false,
    created_at timestamptz not null default now()
);
create unique index on pgrecall.embedding_models (current) where current;

-- One vector a chunk. `embedding` is searched; `own` is kept apart only where the thread's
-- neighbours have been mixed in. Readers stand here too, so that the index scan can filter by itself.
create table pgrecall.embeddings (
    space text not null,
    id uuid not null,
    version int not null,
    model text not null references pgrecall.embedding_models,
    chunk smallint not null,
    head boolean not null,
    readers text[] not null,
    embedding public.halfvec not null,
    own public.halfvec,
    primary key (space, id, version, model, chunk),
    foreign key (space, id, version) references pgrecall.memories on delete cascade
);

-- What waits for a vector. Narrow, so that a claim does not write a memory's row again; a row whose
-- memory is gone is dropped by the claim, which is cheaper than a foreign key's check on every write.
create table pgrecall.embedding_queue (
    space text not null,
    id uuid not null,
    version int not null,
    attempts int not null default 0,
    due_at timestamptz not null default now(),
    primary key (space, id, version)
);
create index on pgrecall.embedding_queue (due_at);

create table pgrecall.links (
    space text not null,
    source uuid not null,
    target uuid not null,
    relation text not null check (relation <> '' and length(relation) <= 200),
    agent text not null,
    created_at timestamptz not null default now(),
    primary key (space, source, target, relation)
);
create index on pgrecall.links (space, target);

-- How often each memory was answered; no ranking reads it.
create table pgrecall.usage (
    space text not null,
    id uuid not null,
    uses bigint not null default 0,
    last_used_at timestamptz,
    primary key (space, id)
);

create table pgrecall.sessions (
    space text not null references pgrecall.spaces,
    session uuid not null,
    agent text not null,
    client text,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (space, session)
);

create table pgrecall.recall_log (
    space text not null,
    id uuid not null,
    at timestamptz not null default now(),
    agent text not null,
    query text not null,
    mode text not null,
    results int not null,
    lexical_hits int not null,
    vector_hits int not null,
    took_ms real not null,
    degraded text,
    primary key (space, id)
);
create index on pgrecall.recall_log (at);

-- How large a share of the memories holds a word, has a reader or is in a space: copied from what
-- ANALYZE knows of the commonest, so that writers keep nothing up. Empty while the store is small.
create table pgrecall.shares (
    subject text not null check (subject in ('word', 'reader', 'space')),
    value text not null,
    share real not null,
    primary key (subject, value)
);
