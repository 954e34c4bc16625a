-- Who reads and writes, and the spaces that keep projects apart. Small tables: reference tables on Citus.

create table pgrecall.agents (
    agent text primary key
        check (agent ~ '^[a-z][a-z0-9_-]{0,61}$' and agent !~ '^(pg_|pgrecall)' and agent <> 'postgres'),
    admin boolean not null default false,
    reader boolean not null default false,
    created_at timestamptz not null default now(),
    check (not (admin and reader))
);

-- Bearer tokens of REST and MCP: only the SHA-256 stands here, and enough of the token to name it.
create table pgrecall.agent_tokens (
    token_hash bytea primary key,
    agent text not null references pgrecall.agents on delete cascade,
    prefix text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    last_used_at timestamptz
);
create index on pgrecall.agent_tokens (agent);

-- The SCRAM secret of each agent that may log in by SQL; the same stands in the role's own record.
create table pgrecall.sql_logins (
    agent text primary key references pgrecall.agents on delete cascade,
    scram_secret text not null check (scram_secret like 'SCRAM-SHA-256$%'),
    valid_until timestamptz
);

create table pgrecall.spaces (
    space text primary key check (space <> '' and length(space) <= 200),
    created_by text not null,
    created_at timestamptz not null default now()
);

create table pgrecall.members (
    space text not null references pgrecall.spaces on delete cascade,
    agent text not null references pgrecall.agents on delete cascade,
    role text not null check (role in ('reader', 'writer', 'admin')),
    primary key (space, agent)
);
create index on pgrecall.members (agent);
