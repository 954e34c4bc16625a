-- One tsquery that any of the terms satisfies.
create or replace function pgrecall.any_of(terms tsquery[]) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    joined tsquery;
    term tsquery;
begin
    foreach term in array terms loop
        joined := case when joined is null then term else joined || term end;
    end loop;
    return joined;
end
$$;
