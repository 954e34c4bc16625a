-- The memories linked to one, whichever way the links point and over up to so many hops; the nearest first.
create or replace function memory.related(id uuid, hops int default 1) returns setof memory.memories
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    -- Asked by itself: in a join with no memory left to answer, it would never run, and refuse nothing.
    near constant uuid[] := array(select r.id from pgrecall.reachable(related.id, related.hops) r order by r.distance, r.id);
begin
    return query
    select m.*
    from unnest(near) with ordinality as n(id, place)
    cross join lateral (select v.* from memory.memories v where v.id = n.id limit 1) as m
    order by n.place;
end
$$;
grant execute on function memory.related(uuid, int) to pgrecall_agent, pgrecall_reader;
