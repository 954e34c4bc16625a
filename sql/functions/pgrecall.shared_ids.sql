-- The memories that are shared with the session one by one, in no order; null for none, so that the planner drops the
-- question. What expires does so between two statements of one transaction too.
create or replace function pgrecall.shared_ids() returns uuid[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return nullif(array(
        select s.id from pgrecall.memory_shares s
        where s.agent = memory.current_agent() and coalesce(s.expires_at, 'infinity') > statement_timestamp()), '{}');
end
$$;
grant execute on function pgrecall.shared_ids() to pgrecall_agent, pgrecall_reader, pgrecall_service;
