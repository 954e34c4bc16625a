-- The memories that links, followed either way, reach from the seeds within some hops: the fewest hops first,
-- then those of the best seed. All on a path lie within the scope. `width` bounds the links followed from one
-- memory each way, `pool` the memories of one hop; null for all.
create or replace function pgrecall.graph_leg(
    seeds pgrecall.graph_hit[], hops int, width int, s pgrecall.scope, pool int
) returns setof pgrecall.graph_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    frontier pgrecall.graph_hit[] := seeds;
    reached pgrecall.graph_hit[] := '{}';
begin
    for hop in 1 .. hops loop
        -- A hit's rank is its seed's until all are known; no seed is reached from itself.
        frontier := array(
            select row(m.space, m.id, m.version, hop, linked.rank)::pgrecall.graph_hit
            from (
                -- Each id once, before its versions are fetched.
                select distinct on (f.space, other.id) f.space, other.id, f.rank
                from unnest(frontier) as f
                join unnest(seeds) as seed on seed.rank = f.rank
                cross join lateral (
                    (select l.target as id from pgrecall.links l
                    where l.space = f.space and l.source = f.id order by l.target limit width)
                    union all
                    (select l.source from pgrecall.links l
                    where l.space = f.space and l.target = f.id order by l.source limit width)
                ) as other
                where other.id <> seed.id and other.id not in (select r.id from unnest(reached) as r)
                order by f.space, other.id, f.rank
            ) as linked
            join pgrecall.memories m on m.space = linked.space and m.id = linked.id
            where pgrecall.in_scope(m, s)
            order by linked.rank, m.id, m.version
            limit pool);
        exit when cardinality(frontier) = 0;
        reached := reached || frontier;
    end loop;
    return query
    select r.space, r.id, r.version, r.hops, row_number() over (order by r.hops, r.rank, r.id, r.version)::int
    from unnest(reached) as r;
end
$$;
