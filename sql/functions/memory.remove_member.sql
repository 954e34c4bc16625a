-- End an agent's membership of a space: for the space's admins, and for the agent itself, even one that only reads.
-- What only the space let it see is gone for it at once; what it wrote there stays, and stays its own.
create or replace function memory.remove_member(space text, agent text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := memory.current_agent();
    everywhere boolean;
begin
    if agent = who then
        select a.admin into everywhere from pgrecall.agents a where a.agent = who;
        perform from pgrecall.spaces s where s.space = remove_member.space for update;
    else
        who := pgrecall.writing_agent();
        everywhere := pgrecall.space_to_administer(space, who);
    end if;
    if not exists (
        select from pgrecall.members m where m.space = remove_member.space and m.agent = remove_member.agent)
    then
        raise exception 'agent % is no member of space %', quote_nullable(agent), quote_nullable(space)
            using errcode = 'P0002';
    end if;
    perform pgrecall.check_admin_left(space, agent, everywhere);
    delete from pgrecall.members m where m.space = remove_member.space and m.agent = remove_member.agent;
    perform pgrecall.append_event(
        space, who, 'remove_member', null, null, jsonb_build_object('agent', agent), null);
end
$$;
grant execute on function memory.remove_member(text, text) to pgrecall_agent, pgrecall_reader;
