-- What people select from. Each view asks as its caller, so that the policies below it decide.
-- What agents put in words is joined to an empty text. A bare column may be compared ahead of the policy, because
-- text's operators are leakproof: then EXPLAIN tells by its row estimates what the commonest words of others' private
-- memories are, and by the rows it removed that some index holds just this key. An expression is looked at behind it.

create or replace view memory.memories with (security_invoker = true) as
select m.id, m.version, m.space, m.agent, m.kind, m.visibility, m.title || '' as title,
    pgrecall.told_content(m.content) || '' as content, m.entity || '' as entity, m.tags,
    m.importance, m.confidence, m.pinned, m.key || '' as key, m.thread || '' as thread, m.source || '' as source, m.metadata,
    m.event_at, m.valid_from, m.valid_until, m.expires_at, m.created_at, m.session,
    coalesce(m.written_by, m.agent) as written_by, m.metadata ->> 'source_type' as source_type,
    pgrecall.visible_of(m.derived_from) as derived_from,
    case when m.echo_of is not null then (pgrecall.visible_of(array[m.echo_of]))[1] end as echo_of
from pgrecall.memories m
where m.superseded_at is null and m.archived_at is null and (m.expires_at is null or m.expires_at > now());
grant select, insert, delete on memory.memories to pgrecall_agent;
grant select on memory.memories to pgrecall_reader;

create or replace view memory.memory_versions with (security_invoker = true) as
select m.id, m.version, m.space, m.agent, m.kind, m.visibility, m.title || '' as title,
    pgrecall.told_content(m.content) || '' as content, m.entity || '' as entity, m.tags,
    m.importance, m.confidence, m.pinned, m.key || '' as key, m.thread || '' as thread, m.source || '' as source, m.metadata,
    m.event_at, m.valid_from, m.valid_until, m.expires_at, m.created_at, m.superseded_at, m.archived_at,
    m.session, coalesce(m.written_by, m.agent) as written_by, m.metadata ->> 'source_type' as source_type,
    pgrecall.visible_of(m.derived_from) as derived_from,
    case when m.echo_of is not null then (pgrecall.visible_of(array[m.echo_of]))[1] end as echo_of,
    m.replaced_from, m.deleted_at
from pgrecall.memories m;
grant select on memory.memory_versions to pgrecall_agent, pgrecall_reader;

create or replace view memory.events with (security_invoker = true) as
select e.space, e.agent, e.sequence, e.at, e.action, e.id, e.version, e.payload, e.commitment,
    e.previous_hash, e.hash
from pgrecall.events e;
grant select on memory.events to pgrecall_agent, pgrecall_reader;

create or replace view memory.recall_log with (security_invoker = true) as
select r.at, r.agent, r.space, r.query || '' as query, r.mode, r.results, r.lexical_hits, r.vector_hits, r.took_ms,
    r.degraded || '' as degraded
from pgrecall.recall_log r;
grant select on memory.recall_log to pgrecall_agent, pgrecall_reader;

create or replace view memory.agents with (security_invoker = true) as
select a.agent, a.admin, a.reader, a.created_at,
    exists (select l.agent from pgrecall.sql_logins l where l.agent = a.agent) as sql_login,
    (select max(t.last_used_at) from pgrecall.agent_tokens t where t.agent = a.agent) as last_used_at,
    array(select m.space from pgrecall.members m where m.agent = a.agent order by m.space) as spaces
from pgrecall.agents a;
grant select on memory.agents to pgrecall_agent, pgrecall_reader;

create or replace view memory.spaces with (security_invoker = true) as
select s.space, s.created_by, s.created_at,
    (select m.role from pgrecall.members m where m.space = s.space and m.agent = memory.current_agent()) as role,
    (select count(*) from pgrecall.members m where m.space = s.space) as members
from pgrecall.spaces s;
grant select on memory.spaces to pgrecall_agent, pgrecall_reader;
