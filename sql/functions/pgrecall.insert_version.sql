-- Insert one version; false when a head with the same words or the same key stands already.
create or replace function pgrecall.insert_version(fresh pgrecall.memories) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgrecall.insert_versions(array[fresh]);
    return found;
end
$$;
