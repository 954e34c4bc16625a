-- End an agent's share of a memory, and those that it passed on: for the owner, an admin of the space where the
-- memory is not private, who granted it, and the agent itself.
create or replace function memory.unshare(id uuid, agent text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    head pgrecall.memories;
begin
    select m.* into head from pgrecall.memory_shares s
    join pgrecall.memories m on m.space = s.space and m.id = s.id and m.superseded_at is null
    where s.id = unshare.id and s.agent = unshare.agent
        and coalesce(s.expires_at, 'infinity') > statement_timestamp()
        and (who in (s.agent, s.granted_by, s.owner) or m.visibility <> 'private' and exists (
            select from pgrecall.members b where b.space = m.space and b.agent = who and b.role = 'admin'));
    delete from pgrecall.memory_shares s
    where s.space = head.space and s.id = head.id and s.agent = unshare.agent;
    if not found then
        raise exception 'memory % is not shared with agent "%"', id, agent using errcode = 'P0002';
    end if;
    perform pgrecall.append_event(
        head.space, who, 'unshare', head.id, head.version, jsonb_build_object('agent', agent), null);
end
$$;
grant execute on function memory.unshare(uuid, text) to pgrecall_agent;
