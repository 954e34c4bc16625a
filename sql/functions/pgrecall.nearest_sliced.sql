-- The nearest memories of a wide scope, measured against every vector in it, the newest first and until the time is up.
create or replace function pgrecall.nearest_sliced(with_model text, vector text, s pgrecall.scope, pool int)
returns pgrecall.vector_hit[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    few constant int := 5000;
    slice pgrecall.scope := s;
    begins timestamptz;
    began timestamptz;
    rows int := few;
    hits pgrecall.vector_hit[] := '{}';
begin
    loop
        began := clock_timestamp();
        begins := pgrecall.next_slice(slice, rows);
        slice.since := coalesce(begins, s.since);
        hits := pgrecall.nearer(
            hits, array(select h from pgrecall.nearest_exact(with_model, vector, slice, pool) h), pool);
        exit when begins is null or pgrecall.late('the older memories'' vectors');
        slice.until := begins;
        rows := pgrecall.slice_rows(rows, began);
    end loop;
    return hits;
end
$$;
