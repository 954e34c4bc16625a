-- The memories that are shared with the session one by one, in no order; null for none, so that the planner drops the
-- question. Never fewer than 101, the first repeated: of an array of up to 100 the planner compares each element with
-- the predicate of every partial index, which took 2 ms a statement. What expires does so between two statements of one
-- transaction too.
create or replace function pgrecall.shared_ids() returns uuid[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    fewest constant int := 101;
    ids uuid[] := array(
        select s.id from pgrecall.memory_shares s
        where s.agent = memory.current_agent() and coalesce(s.expires_at, 'infinity') > statement_timestamp());
begin
    if cardinality(ids) = 0 then
        return null;
    end if;
    return ids || array_fill(ids[1], array[greatest(fewest - cardinality(ids), 0)]);
end
$$;
grant execute on function pgrecall.shared_ids() to pgrecall_agent, pgrecall_reader, pgrecall_service;
