-- The log of changes: one hash chain for each space and agent, so that writers do not wait for each other.

create table pgrecall.events (
    space text not null,
    agent text not null,
    sequence bigint not null,
    at timestamptz not null,
    action text not null,
    id uuid,
    version int,
    payload jsonb not null default '{}',
    commitment bytea,
    previous_hash bytea not null,
    hash bytea not null,
    primary key (space, agent, sequence)
);
create index on pgrecall.events (space, id);

-- The newest link of each chain; a writer locks its own row, and nothing else.
create table pgrecall.chain_heads (
    space text not null,
    agent text not null,
    sequence bigint not null,
    previous_hash bytea not null,
    hash bytea not null,
    primary key (space, agent)
);
