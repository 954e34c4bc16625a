-- Make an agent a member of a space, which is made if it is new: then the agent administers it,
-- unless it only reads. A membership that stands takes the new role.
create or replace function pgrecall.add_member(target text, who text, wanted text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    given text := wanted;
begin
    insert into pgrecall.spaces (space, created_by) values (target, who) on conflict do nothing;
    if found then
        perform pgrecall.append_event(target, who, 'create_space', null, null, '{}', null);
        given := case wanted when 'reader' then 'reader' else 'admin' end;
    end if;
    insert into pgrecall.members (space, agent, role) values (target, who, given)
    on conflict (space, agent) do update set role = excluded.role;
    perform pgrecall.append_event(target, who, 'join_space', null, null, jsonb_build_object('role', given), null);
end
$$;
