-- Other names of entities. Each belongs to a space, whose members share it.

-- A name as names are compared: whatever its case, its accents, its ё and its blanks.
create function pgrecall.entity_name(value text) returns text
language sql immutable parallel safe strict
return lower(pgrecall.fold(regexp_replace(btrim(value), '\s+', ' ', 'g')));

create table pgrecall.entity_aliases (
    space text not null references pgrecall.spaces on delete cascade,
    name text not null,
    alias text not null,
    entity text not null,
    agent text not null,
    created_at timestamptz not null default now(),
    primary key (space, name)
);
alter table pgrecall.entity_aliases enable row level security;

create index memories_entity_name on pgrecall.memories (pgrecall.entity_name(entity), space)
    where superseded_at is null and entity is not null;

-- All the names of the entity asked for.
alter type pgrecall.scope alter attribute entity type text[];
alter type pgrecall.scope rename attribute entity to entities;
