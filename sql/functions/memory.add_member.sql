-- Make an agent a member of a space as reader, writer or admin, or give a member another role.
create or replace function memory.add_member(space text, agent text, role text default 'writer') returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    everywhere boolean := pgrecall.space_to_administer(space, who);
    only_reads boolean := (select a.reader from pgrecall.agents a where a.agent = add_member.agent);
begin
    if coalesce(role not in ('reader', 'writer', 'admin'), true) then
        raise exception 'role must be reader, writer or admin, not %', quote_nullable(role) using errcode = '22023';
    elsif only_reads is null then
        raise exception 'no agent %', quote_nullable(agent) using errcode = 'P0002';
    elsif only_reads and role <> 'reader' then
        raise exception 'agent "%" only reads: its role must be reader', agent using errcode = '22023';
    elsif role <> 'admin' then
        perform pgrecall.check_admin_left(space, agent, everywhere);
    end if;
    insert into pgrecall.members as m values (space, agent, role)
    on conflict on constraint members_pkey do update set role = excluded.role where m.role <> excluded.role;
    if found then
        perform pgrecall.append_event(
            space, who, 'add_member', null, null, jsonb_build_object('agent', agent, 'role', role), null);
    end if;
end
$$;
grant execute on function memory.add_member(text, text, text) to pgrecall_agent;
