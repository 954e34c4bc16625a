-- Throw a version in quarantine away, as a reviewer: nothing of it is left but the fact, in the log. Answers its
-- number; the memory that it would have changed stays as it is.
create or replace function memory.reject(id uuid, version int default null) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    held pgrecall.quarantine := pgrecall.held_for_review(reject.id, reject.version);
begin
    delete from pgrecall.quarantine q where q.space = held.space and q.id = held.id and q.version = held.version;
    perform pgrecall.append_event(held.space, who, 'reject', held.id, held.version, '{}', null);
    return held.version;
end
$$;
grant execute on function memory.reject(uuid, int) to pgrecall_agent;
