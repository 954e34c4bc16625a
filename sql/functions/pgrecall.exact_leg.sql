-- The memories that contain the text letter by letter, whatever its case; newest first.
create or replace function pgrecall.exact_leg(query text, s pgrecall.scope, pool int)
returns setof pgrecall.lexical_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select m.space, m.id, m.version, 1::real, 1::real,
        row_number() over (order by m.happened_at desc, m.id, m.version)::int
    from pgrecall.memories m
    where pgrecall.in_scope(m, s)
        and (strpos(lower(m.content), lower(query)) > 0 or strpos(lower(m.title), lower(query)) > 0)
    order by m.happened_at desc, m.id, m.version
    limit pool;
end
$$;
