-- Whether the vector index finds a pool faster than measuring every visible row does. Measuring takes about
-- 4 µs a row; the index about 6 ms, and 20 µs for every row that it meets, of which only the visible ones count.
create or replace function pgrecall.index_pays(visible real, pool int) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    met real := pool * greatest(pgrecall.memory_count(), visible, 1) / greatest(visible, 1);
begin
    return 4 * visible > 6000 + 20 * met;
end
$$;
