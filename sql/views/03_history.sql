-- Every version of a memory that the session may see, oldest first.
create or replace function memory.history(id uuid) returns setof memory.memory_versions
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select v.* from memory.memory_versions v where v.id = history.id order by v.version;
end
$$;
grant execute on function memory.history(uuid) to pgrecall_agent, pgrecall_reader;
