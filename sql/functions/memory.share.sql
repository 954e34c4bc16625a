-- Let another agent read a memory, change it (`write`) or also share it on (`share`), for a time or for good.
-- Said again it sets the permission and the time anew. Nobody grants for longer than he holds.
create or replace function memory.share(
    id uuid, agent text, permission text default 'read', expires_at timestamptz default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    head pgrecall.memories;
    held record;
    standing pgrecall.memory_shares;
    granted pgrecall.memory_shares;
begin
    perform pgrecall.check_grant(who, agent, permission, expires_at);
    head := pgrecall.seen_head(id);
    if head.deleted_at is not null then  -- left to the space's admins, and shared no more
        raise exception 'no memory %', id using errcode = 'P0002';
    elsif head.agent = agent then
        raise exception 'memory % is agent "%"''s own', id, agent using errcode = '22023';
    end if;
    delete from pgrecall.memory_shares s
    where s.space = head.space and s.id = head.id and s.agent = share.agent and s.expires_at <= statement_timestamp();
    select * into standing from pgrecall.memory_shares s
    where s.space = head.space and s.id = head.id and s.agent = share.agent;
    select r.* into held from pgrecall.rights_to_share(head, who) r
    -- A share that stands is changed by who granted it, by the right it was granted by, or from above.
    where r.root or standing.agent is null
        or standing.granted_by = who and (r.through, r.delegation) is not distinct from (standing.through, standing.delegation)
    order by r.root desc, r.expires_at desc nulls first, r.delegation nulls first
    limit 1;
    if not found then
        raise exception 'agent "%" may not share memory %', who, id using errcode = '42501', detail = case
            when standing.agent is null then 'That takes its owner, or the permission to share it.'
            else format('It is shared with agent "%s" already, by another.', agent) end;
    end if;
    granted := (
        head.space, head.id, agent, permission, head.agent, who, held.through, held.delegation,
        least(nullif(expires_at, 'infinity'), held.expires_at), coalesce(standing.created_at, statement_timestamp()));
    if granted is not distinct from standing then
        return;
    end if;
    insert into pgrecall.memory_shares values (granted.*)
    on conflict on constraint memory_shares_pkey do update
    set permission = excluded.permission, granted_by = excluded.granted_by, through = excluded.through,
        delegation = excluded.delegation, expires_at = excluded.expires_at;
    perform pgrecall.bound_shares_below(granted);
    insert into pgrecall.row_tokens values ('share:' || head.id::text, head.id, true) on conflict do nothing;
    if not head.readers @> array['share:' || head.id::text] then
        perform pgrecall.change_tokens(head, array['share:' || head.id::text], '{}');
    end if;
    perform pgrecall.append_event(head.space, who, 'share', head.id, head.version, jsonb_strip_nulls(
        jsonb_build_object('agent', agent, 'permission', permission, 'expires_at', granted.expires_at)), null);
end
$$;
grant execute on function memory.share(uuid, text, text, timestamptz) to pgrecall_agent;
