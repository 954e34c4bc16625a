-- The memories linked to one, whichever way the links point and over up to so many hops; the nearest first.
create or replace function memory.related(id uuid, hops int default 1) returns setof memory.memories
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select m.*
    from pgrecall.reachable(related.id, related.hops) r join memory.memories m using (id)
    order by r.distance, m.id;
end
$$;
grant execute on function memory.related(uuid, int) to pgrecall_agent, pgrecall_reader;
