-- Writes that look like instructions to whoever reads them wait here, outside the memories, until a reviewer
-- has looked at them: no road that reads memories can meet one.

-- One sign of suspicion, 0 to 1; and what all signs of a text come to.
create type pgrecall.signal as (reason text, weight real);
create type pgrecall.suspicion as (score real, reasons text[]);

-- Which words, by their beginnings, a text must hold for one of the LIKE patterns to match it: of each the longest
-- word; of a pattern without words the signs themselves. Null where one has neither: then it is always to be tried.
create function pgrecall.pattern_words(needs text[]) returns tsquery
language sql immutable parallel safe strict
return (
    select case when count(*) = count(n.word) then string_agg('''' || n.word || ''':*', ' | ')::tsquery end
    from (
        select case when w.word ~ '^[\u2e80-\uffff]' then E'\u4e2d' else coalesce(
            w.word, nullif(translate(need, '%_ .''\', ''), '')) end as word
        from unnest(needs) as need
        left join lateral (
            select btrim(found[1], '_') as word from regexp_matches(need, '\w+', 'g') as found
            where btrim(found[1], '_') <> ''
            order by length(btrim(found[1], '_')) desc, 1
            limit 1) as w on true
    ) as n);

-- What gives a text away. `pattern` is tried on lower-case text where one of `needs` (for LIKE) is found. Rows of
-- the deployment's own (builtin = false) are kept over upgrades. A reference table on Citus.
create table pgrecall.suspicion_patterns (
    name text primary key,
    reason text not null,
    weight real not null check (weight > 0 and weight < 1),
    needs text[] not null,
    pattern text not null,
    builtin boolean not null default false,
    words tsquery generated always as (pgrecall.pattern_words(needs)) stored
);
alter table pgrecall.suspicion_patterns enable row level security;

-- The version that was not let in, whole, as it would have been inserted: a column that memories gain later is
-- carried along. `agent` wrote it, which is not the owner where somebody refines another's memory.
create table pgrecall.quarantine (
    space text not null,
    id uuid not null,
    version int not null,
    agent text not null,
    memory jsonb not null,
    identity_hash bytea not null,
    score real not null,
    reasons text[] not null,
    at timestamptz not null,
    primary key (space, id, version)
);
create unique index quarantine_repeat on pgrecall.quarantine (space, agent, identity_hash);
create index quarantine_id on pgrecall.quarantine (id);
create index quarantine_newest on pgrecall.quarantine (at desc, id, version);
alter table pgrecall.quarantine enable row level security;

-- How an agent writes in a space: sums and sums of squares over its texts' features.
create table pgrecall.baselines (
    space text not null,
    agent text not null,
    texts bigint not null,
    sums double precision[] not null,
    squares double precision[] not null,
    primary key (space, agent)
);
alter table pgrecall.baselines enable row level security;
