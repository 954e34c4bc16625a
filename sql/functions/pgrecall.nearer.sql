-- The nearest of two lists of hits, in order.
create or replace function pgrecall.nearer(hits pgrecall.vector_hit[], others pgrecall.vector_hit[], pool int)
returns pgrecall.vector_hit[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return array(
        select row(h.space, h.id, h.version, h.distance,
            row_number() over (order by h.distance, h.id, h.version))::pgrecall.vector_hit
        from unnest(hits || others) h
        order by h.distance, h.id, h.version
        limit pool);
end
$$;
