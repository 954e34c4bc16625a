-- End a delegation, and all that hangs below it: for who granted it and for who holds it in whole, for another
-- whose memories were passed on by it as far as these go.
create or replace function memory.revoke_delegation(delegation uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    -- Of the row for the granter's own memories: where delegate() told of it.
    target text := (
        select d.space from pgrecall.delegations d where d.delegation = revoke_delegation.delegation and d.parent is null);
begin
    delete from pgrecall.delegations d
    where d.delegation = revoke_delegation.delegation and who in (d.granted_by, d.agent, d.owner)
        and coalesce(d.expires_at, 'infinity') > statement_timestamp();
    if not found then
        raise exception 'no delegation %', delegation using errcode = 'P0002';
    end if;
    perform pgrecall.append_event(
        coalesce(target, '~' || who), who, 'revoke_delegation', null, null,
        jsonb_build_object('delegation', delegation), null);
end
$$;
grant execute on function memory.revoke_delegation(uuid) to pgrecall_agent;
