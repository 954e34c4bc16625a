-- About how many versions the store holds, from the planner's own figures; never scans.
create or replace function pgrecall.memory_count() returns real
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (select greatest(c.reltuples, 0) from pg_class c where c.oid = 'pgrecall.memories'::regclass);
end
$$;
