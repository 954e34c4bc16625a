-- Let another agent act on one's own memories, all or those of a space, of kinds, with all of some tags; and, as
-- far as their depth allows, on what has been delegated to oneself. Answers the delegation's id.
create or replace function memory.delegate(
    agent text, permission text, space text default null, kinds text[] default null, tags text[] default null,
    expires_at timestamptz default null, depth int default 0
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    wanted pgrecall.delegations;
    one pgrecall.delegations;
begin
    perform pgrecall.check_grant(who, agent, permission, expires_at);
    perform pgrecall.check_delegation(space, kinds, tags, depth);
    wanted.id := pgrecall.new_id();
    wanted.delegation := pgrecall.new_id();
    wanted.owner := who;
    wanted.granted_by := who;
    wanted.agent := agent;
    wanted.permission := permission;
    wanted.space := space;
    wanted.kinds := kinds;
    wanted.tags := nullif(tags, '{}');
    wanted.expires_at := nullif(expires_at, 'infinity');
    wanted.depth := depth;
    -- Writers hold their agent's row: none of the owners' may be writing what this would not see.
    perform from pgrecall.agents a
    where a.agent = who or a.agent in (select d.owner from pgrecall.delegations d where d.agent = who)
    order by a.agent
    for update;
    for one in select p.* from pgrecall.passed_on(wanted) p loop
        insert into pgrecall.delegations as d (
            id, delegation, parent, owner, granted_by, agent, permission, space, kinds, tags, expires_at, depth)
        values (one.id, one.delegation, one.parent, one.owner, one.granted_by, one.agent, one.permission,
            one.space, one.kinds, one.tags, one.expires_at, one.depth)
        returning d.* into one;
        perform pgrecall.stamp_delegation(one);
    end loop;
    perform pgrecall.append_event(
        coalesce(space, '~' || who), who, 'delegate', null, null, jsonb_strip_nulls(jsonb_build_object(
            'delegation', wanted.delegation, 'agent', agent, 'permission', permission, 'depth', depth,
            'expires_at', wanted.expires_at)), null);
    return wanted.delegation;
end
$$;
grant execute on function memory.delegate to pgrecall_agent;
