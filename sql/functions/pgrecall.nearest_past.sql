-- The nearest past versions of a scope, which no index holds, until the time is up: first those superseded since the
-- time that is asked about, as most versions of that time were, then those superseded before, the latest first.
create or replace function pgrecall.nearest_past(with_model text, vector text, s pgrecall.scope, pool int)
returns pgrecall.vector_hit[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    few constant int := 5000;
    middle constant timestamptz := coalesce(s.as_of, 'infinity');
    low timestamptz := middle;
    high timestamptz;
    began timestamptz;
    rows int := few;
    hits pgrecall.vector_hit[] := '{}';
begin
    loop
        began := clock_timestamp();
        high := (
            select m.superseded_at from pgrecall.memories m where m.superseded_at >= low
            order by m.superseded_at offset rows limit 1);
        -- Many may have been superseded in one moment. (greatest() would make a time of null.)
        high := case when high > low then high else high + interval '1 microsecond' end;
        hits := pgrecall.nearer(
            hits, array(select h from pgrecall.nearest_exact(with_model, vector, s, pool, low, high) h), pool);
        exit when high is null;
        if pgrecall.late('the past versions'' vectors') then
            return hits;
        end if;
        low := high;
        rows := pgrecall.slice_rows(rows, began);
    end loop;
    high := middle;
    while high is not null and not pgrecall.late('the past versions'' vectors') loop
        began := clock_timestamp();
        low := (
            select m.superseded_at from pgrecall.memories m where m.superseded_at < high
            order by m.superseded_at desc offset rows limit 1);
        hits := pgrecall.nearer(
            hits,
            array(select h from pgrecall.nearest_exact(with_model, vector, s, pool, coalesce(low, '-infinity'), high) h),
            pool);
        high := low;
        rows := pgrecall.slice_rows(rows, began);
    end loop;
    return hits;
end
$$;
