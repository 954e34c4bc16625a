-- Remember an array of objects whose fields are remember()'s arguments, in one transaction.
-- Answers a row for each, in order: the id, the version, and created, refined or repeated.
create or replace function memory.remember_many(memories jsonb)
returns table (number int, id uuid, version int, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
declare
    drafts pgrecall.draft[] := pgrecall.drafts_of(memories);
begin
    -- What has a key may refine what an earlier one of the batch wrote; what brings a vector stores it at once.
    if not exists (select from unnest(drafts) d where d.key is not null or d.query_embedding is not null) then
        return query select w.* from pgrecall.write_new(drafts) w;
        return;
    end if;
    for number in 1..cardinality(drafts) loop
        select w.id, w.version, w.outcome into id, version, outcome from pgrecall.write_memory(drafts[number]) w;
        return next;
    end loop;
end
$$;
grant execute on function memory.remember_many(jsonb) to pgrecall_agent;
