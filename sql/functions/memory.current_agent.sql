-- The agent that asks: the login role itself, or what the service role says for this transaction.
create or replace function memory.current_agent() returns text
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Only a member of the service role may speak for others; for anyone else the setting means nothing.
    if pg_has_role(session_user, 'pgrecall_service', 'member') then
        return nullif(current_setting('pgrecall.agent', true), '');
    end if;
    return session_user;
end
$$;
grant execute on function memory.current_agent() to pgrecall_agent, pgrecall_reader, pgrecall_service;
