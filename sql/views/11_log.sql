-- events: one's own, all of a space for its admins, all there are for the deployment's admin, who verifies them.
drop policy if exists readable on pgrecall.events;
create policy readable on pgrecall.events for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent())
        or space = any ((select pgrecall.member_spaces('admin'))::text[])
        or (select pgrecall.is_admin()));

-- The heads of the same chains, to be kept elsewhere.
drop policy if exists readable on pgrecall.chain_heads;
create policy readable on pgrecall.chain_heads for select to pgrecall_agent, pgrecall_reader
    using (agent = (select memory.current_agent())
        or space = any ((select pgrecall.member_spaces('admin'))::text[])
        or (select pgrecall.is_admin()));
grant select on pgrecall.chain_heads to pgrecall_agent, pgrecall_reader;

create or replace view memory.log_heads with (security_invoker = true) as
select h.space, h.agent, h.sequence, h.hash from pgrecall.chain_heads h;
grant select on memory.log_heads to pgrecall_agent, pgrecall_reader;
