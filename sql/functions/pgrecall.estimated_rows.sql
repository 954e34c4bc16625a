-- How many rows the planner expects a scope to leave. Volatile only because EXPLAIN asks for it; it writes nothing.
create or replace function pgrecall.estimated_rows(s pgrecall.scope) returns real
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    plan json;
begin
    execute 'explain (format json) select from pgrecall.memories m where pgrecall.in_scope(m, $1)' into plan using s;
    return (plan #>> '{0,Plan,Plan Rows}')::real;
end
$$;
