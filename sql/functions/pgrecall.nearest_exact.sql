-- The nearest memories of a scope, measured against every vector in it; or of its past versions alone, those that
-- were superseded from one time to before another. Nested loops alone, so that the cost follows the scope and not
-- the store.
create or replace function pgrecall.nearest_exact(
    with_model text, vector text, s pgrecall.scope, pool int,
    superseded_from timestamptz default null, superseded_before timestamptz default null
) returns setof pgrecall.vector_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
    return query
    select near.space, near.id, near.version, near.distance,
        row_number() over (order by near.distance, near.id, near.version)::int
    from (
        select m.space, m.id, m.version, min(e.embedding operator(public.<=>) vector::public.halfvec)::real as distance
        from pgrecall.memories m
        join pgrecall.embeddings e on e.space = m.space and e.id = m.id and e.version = m.version
        where e.model = with_model and pgrecall.in_scope(m, s)
            and (superseded_from is null or m.superseded_at >= superseded_from)
            and (superseded_before is null or m.superseded_at < superseded_before)
        group by m.space, m.id, m.version
    ) as near
    order by near.distance, near.id, near.version
    limit pool;
end
$$;
