-- Shares of single memories, and delegations of many.

-- Each row lets `agent` act on what `owner` owns, within a scope: `tags` must all be there, and null leaves a
-- side open. The rows of one delegate() have one `delegation`; a row that passes another on hangs below it.
-- `token` is the reader by which the owner's memories know the row. A small table: a reference table on Citus.
create table pgrecall.delegations (
    id uuid primary key,
    delegation uuid not null,
    parent uuid references pgrecall.delegations on delete cascade,
    owner text not null references pgrecall.agents on delete cascade,
    granted_by text not null references pgrecall.agents on delete cascade,
    agent text not null references pgrecall.agents on delete cascade,
    permission text not null check (permission in ('read', 'write', 'share')),
    space text,
    kinds text[],
    tags text[],
    expires_at timestamptz,
    depth int not null check (depth between 0 and 10),
    created_at timestamptz not null default now(),
    token text not null generated always as (
        case when space is null and kinds is null and tags is null
            then 'agent:' || owner else 'delegation:' || id::text end) stored
);
create index on pgrecall.delegations (agent);
create index on pgrecall.delegations (owner);
create index on pgrecall.delegations (delegation);
create index on pgrecall.delegations (parent);
create index on pgrecall.delegations (granted_by);
alter table pgrecall.delegations enable row level security;

-- One agent's share of one memory. It hangs below the share (`through`, whose agent passed it on) or the
-- delegation by which it was granted, and ends with that; with neither, the owner or an admin granted it.
create table pgrecall.memory_shares (
    space text not null,
    id uuid not null,
    agent text not null references pgrecall.agents on delete cascade,
    permission text not null check (permission in ('read', 'write', 'share')),
    owner text not null,
    granted_by text references pgrecall.agents on delete set null,
    through text,
    delegation uuid references pgrecall.delegations on delete cascade,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (space, id, agent),
    foreign key (space, id, through) references pgrecall.memory_shares on delete cascade
);
create index on pgrecall.memory_shares (agent);
create index on pgrecall.memory_shares (id);
create index on pgrecall.memory_shares (space, id, through);
create index on pgrecall.memory_shares (granted_by);
create index on pgrecall.memory_shares (delegation);
alter table pgrecall.memory_shares enable row level security;

-- The readers that single rows were given, with the memory or delegation that each stands for: so that those
-- that nobody has any more are found and taken off again. One that is not `selective` all turns of a thread have
-- alike. A small table: a reference table on Citus.
create table pgrecall.row_tokens (
    token text primary key,
    subject uuid not null,
    selective boolean not null
);
alter table pgrecall.row_tokens enable row level security;
