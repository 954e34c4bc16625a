-- sessions: the agent's own.
drop policy if exists readable on pgrecall.sessions;
create policy readable on pgrecall.sessions for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent()));
grant select on pgrecall.sessions to pgrecall_agent, pgrecall_reader;

create or replace view memory.sessions with (security_invoker = true) as
select s.session, s.agent, s.client || '' as client, s.started_at, s.ended_at from pgrecall.sessions s;
grant select on memory.sessions to pgrecall_agent, pgrecall_reader;
