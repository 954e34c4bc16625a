-- What the recall under way had no time for; null where it had time for all.
create or replace function pgrecall.left_out() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return 'the deadline passed before ' || nullif(current_setting('pgrecall.left_out', true), '');
end
$$;
