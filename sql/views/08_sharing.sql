-- Who may see what: members, tokens, shares, delegations.
create or replace view memory.members with (security_invoker = true) as
select m.space, m.agent, m.role from pgrecall.members m;
grant select on memory.members to pgrecall_agent, pgrecall_reader;

create or replace view memory.tokens with (security_invoker = true) as
select t.agent, t.prefix || '' as prefix, t.created_at, t.expires_at, t.last_used_at from pgrecall.agent_tokens t;
grant select on memory.tokens to pgrecall_agent, pgrecall_reader;

-- shares: those by me, to me and of my memories; all of a space for its admins.
drop policy if exists readable on pgrecall.memory_shares;
create policy readable on pgrecall.memory_shares for select to pgrecall_agent, pgrecall_reader
    using ((select memory.current_agent()) in (agent, granted_by, owner)
        or space = any ((select pgrecall.member_spaces('admin'))::text[]));
grant select on pgrecall.memory_shares to pgrecall_agent, pgrecall_reader;

create or replace view memory.shares with (security_invoker = true) as
select s.space, s.id, s.agent, s.permission, s.owner, s.granted_by, s.expires_at, s.created_at
from pgrecall.memory_shares s
where s.expires_at is null or s.expires_at > statement_timestamp();
grant select on memory.shares to pgrecall_agent, pgrecall_reader;

-- delegations: those by me, to me and of my memories.
drop policy if exists readable on pgrecall.delegations;
create policy readable on pgrecall.delegations for select to pgrecall_agent, pgrecall_reader
    using ((select memory.current_agent()) in (agent, granted_by, owner));
grant select on pgrecall.delegations to pgrecall_agent, pgrecall_reader;

create or replace view memory.delegations with (security_invoker = true) as
select d.delegation, d.agent, d.permission, d.owner, d.granted_by, d.space, d.kinds, d.tags, d.expires_at, d.depth,
    d.created_at
from pgrecall.delegations d
where d.expires_at is null or d.expires_at > statement_timestamp();
grant select on memory.delegations to pgrecall_agent, pgrecall_reader;
