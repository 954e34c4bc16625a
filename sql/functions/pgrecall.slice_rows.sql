-- How many versions the next slice shall have, after one of so many that began at some time: about 50 ms' worth.
create or replace function pgrecall.slice_rows(rows int, began timestamptz) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case when clock_timestamp() < began + interval '50 ms' then least(rows * 2, 50000) else greatest(rows / 2, 100) end;
end
$$;
