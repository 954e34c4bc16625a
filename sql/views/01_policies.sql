-- Grants and policies, table by table. Tables belong to pgrecall_owner, whom policies do not bind:
-- recall() and the other definer functions run as it and carry the predicate themselves.
-- Everyone else sees rows only through these.
do $$
declare
    guarded text;
begin
    foreach guarded in array array[
        'agents', 'agent_tokens', 'sql_logins', 'spaces', 'members', 'memories', 'embedding_models', 'embeddings',
        'embedding_queue', 'links', 'usage', 'sessions', 'recall_log', 'shares', 'events', 'chain_heads'
    ] loop
        execute format('alter table pgrecall.%I enable row level security', guarded);
    end loop;
end
$$;

grant usage on schema memory to pgrecall_agent, pgrecall_reader, pgrecall_service;

-- memories: whoever is among the row's readers. What is asked for stands in subqueries, so that it is worked out once
-- a statement: as a plain call it costs 25 µs for every row of a scan.
drop policy if exists readable on pgrecall.memories;
create policy readable on pgrecall.memories for select to pgrecall_agent, pgrecall_reader
    using (pgrecall.readable(readers, id, (select pgrecall.principals()), (select pgrecall.shared_ids())));
grant select on pgrecall.memories to pgrecall_agent, pgrecall_reader;

-- spaces and members: the members of the space.
drop policy if exists readable on pgrecall.spaces;
create policy readable on pgrecall.spaces for select to pgrecall_agent, pgrecall_reader
    using ((select pgrecall.is_admin()) or space = any ((select pgrecall.member_spaces('reader'))::text[]));
grant select on pgrecall.spaces to pgrecall_agent, pgrecall_reader;

drop policy if exists readable on pgrecall.members;
create policy readable on pgrecall.members for select to pgrecall_agent, pgrecall_reader
    using ((select pgrecall.is_admin()) or space = any ((select pgrecall.member_spaces('reader'))::text[]));
grant select on pgrecall.members to pgrecall_agent, pgrecall_reader;

-- agents: oneself; the deployment's admin sees all. So with what may be known of tokens and logins: no hash, no secret.
drop policy if exists readable on pgrecall.agents;
create policy readable on pgrecall.agents for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent()) or (select pgrecall.is_admin()));
grant select on pgrecall.agents to pgrecall_agent, pgrecall_reader;

drop policy if exists readable on pgrecall.agent_tokens;
create policy readable on pgrecall.agent_tokens for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent()) or (select pgrecall.is_admin()));
grant select (agent, prefix, created_at, expires_at, last_used_at) on pgrecall.agent_tokens
    to pgrecall_agent, pgrecall_reader;
drop policy if exists readable on pgrecall.sql_logins;
create policy readable on pgrecall.sql_logins for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent()) or (select pgrecall.is_admin()));
grant select (agent) on pgrecall.sql_logins to pgrecall_agent, pgrecall_reader;

-- events: one's own, and all of a space for its admins.
drop policy if exists readable on pgrecall.events;
create policy readable on pgrecall.events for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent()) or space = any ((select pgrecall.member_spaces('admin'))::text[]));
grant select on pgrecall.events to pgrecall_agent, pgrecall_reader;

-- recall_log: one's own.
drop policy if exists readable on pgrecall.recall_log;
create policy readable on pgrecall.recall_log for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent()));
grant select on pgrecall.recall_log to pgrecall_agent, pgrecall_reader;
