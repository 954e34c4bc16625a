-- The model that every head shall have a vector of: the coming one during a change, else the current one.
create or replace function pgrecall.target_model() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (select e.model from pgrecall.embedding_models e where e.coming or e.current order by e.coming desc limit 1);
end
$$;
