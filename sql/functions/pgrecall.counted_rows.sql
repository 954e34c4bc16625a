-- How many rows a scope leaves, counted, and no further than one above `enough`.
create or replace function pgrecall.counted_rows(s pgrecall.scope, enough int) returns real
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return (
        select count(*)
        from (select from pgrecall.memories m where pgrecall.in_scope(m, s) limit enough + 1) as seen);
end
$$;
