-- name: add_agent
insert into pgrecall.agents (agent, admin, reader) values ($1, $2, $3)

-- name: add_token
insert into pgrecall.agent_tokens (token_hash, agent, prefix, expires_at) values ($1, $2, $3, $4)

-- name: expire_tokens
update pgrecall.agent_tokens set expires_at = least(expires_at, $2)
where agent = $1 and (expires_at is null or expires_at > $2)

-- name: agent_for_token
with used as (
    update pgrecall.agent_tokens set last_used_at = now()
    where token_hash = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')
)
select a.agent, a.admin, a.reader from pgrecall.agent_tokens t join pgrecall.agents a using (agent)
where t.token_hash = $1 and (t.expires_at is null or t.expires_at > now())

-- name: find_agent
select agent, admin, reader from pgrecall.agents where agent = $1

-- name: has_memories
select exists (select from pgrecall.memories m where m.readers && array['agent:' || $1::text])
    or exists (select from pgrecall.quarantine q where q.memory ->> 'agent' = $1)

-- name: list_agents
select a.agent as name, a.admin, a.reader, a.sql_login, a.spaces, a.created_at, a.last_used_at, (
        select coalesce(jsonb_agg(to_jsonb(t) - 'agent' order by t.created_at, t.prefix), '[]')
        from memory.tokens t where t.agent = a.agent
    ) as tokens
from memory.agents a
order by a.agent

-- name: remove_agent
delete from pgrecall.agents where agent = $1 returning agent

-- name: set_sql_login
insert into pgrecall.sql_logins (agent, scram_secret, valid_until) values ($1, $2, $3)
on conflict (agent) do update set scram_secret = excluded.scram_secret, valid_until = excluded.valid_until

-- name: remove_sql_login
delete from pgrecall.sql_logins where agent = $1 returning agent

-- name: login_secret
select scram_secret, valid_until from pgrecall.sql_logins where agent = $1

-- name: end_sql_sessions
select pg_terminate_backend(a.pid) from pg_catalog.pg_stat_activity a where a.usename = $1

-- name: role_exists
select exists (select from pg_catalog.pg_roles where rolname = $1)

-- name: add_member
select pgrecall.add_member($1, $2, $3)

-- name: leave_spaces
select pgrecall.append_event(m.space, m.agent, 'leave_space', null, null, '{}', null)
from (select space, agent from pgrecall.members where agent = $1 order by space) as m

-- name: log
select pgrecall.append_event('~' || $1::text, $1::text, $2, null, null, $3, null)
