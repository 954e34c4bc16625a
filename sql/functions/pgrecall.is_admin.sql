-- Whether the session's agent administers the whole deployment.
create or replace function pgrecall.is_admin() returns boolean
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return exists (select from pgrecall.agents a where a.agent = memory.current_agent() and a.admin);
end
$$;
grant execute on function pgrecall.is_admin() to pgrecall_agent, pgrecall_reader, pgrecall_service;
