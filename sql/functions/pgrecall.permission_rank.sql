-- How much a permission allows: each holds what the ones before it hold.
create or replace function pgrecall.permission_rank(permission text) returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select array_position(array['read', 'write', 'share'], permission)
$$;
