-- The memories that contain the text letter by letter, whatever its case; newest first. Read in slices, so that a
-- deadline ends it: what was found until then are the newest.
create or replace function pgrecall.exact_leg(query text, s pgrecall.scope, pool int)
returns setof pgrecall.lexical_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    -- As many are read at once.
    few constant int := 5000;
    slice pgrecall.scope := s;
    begins timestamptz;
    began timestamptz;
    rows int := few;
    hits pgrecall.lexical_hit[] := '{}';
begin
    loop
        began := clock_timestamp();
        begins := case when s.visible > few then pgrecall.next_slice(slice, rows) end;
        slice.since := coalesce(begins, s.since);
        hits := hits || array(
            select row(m.space, m.id, m.version, 1::real, 1::real,
                cardinality(hits) + row_number() over (order by m.happened_at desc, m.id, m.version))::pgrecall.lexical_hit
            from pgrecall.memories m
            where pgrecall.in_scope(m, slice)
                and (strpos(lower(m.content), lower(query)) > 0 or strpos(lower(m.title), lower(query)) > 0)
            order by m.happened_at desc, m.id, m.version
            limit pool - cardinality(hits));
        exit when begins is null or cardinality(hits) >= pool or pgrecall.late('the older memories');
        slice.until := begins;
        rows := pgrecall.slice_rows(rows, began);
    end loop;
    return query select h.* from unnest(hits) h;
end
$$;
