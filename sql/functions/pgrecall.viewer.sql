-- What the session reads as, for pgrecall.readable(): worked out once a statement, not for each row.
create or replace function pgrecall.viewer() returns pgrecall.viewer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (pgrecall.principals(), pgrecall.shared_ids());
end
$$;
