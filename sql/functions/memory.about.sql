-- The ids of the memories that the session may see whose entity goes by a name, whichever of its names that is.
create or replace function memory.about(entity text, space text default null) returns setof uuid
language plpgsql stable security definer rows 100
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    s pgrecall.scope;
begin
    s.principals := pgrecall.principals();
    s.shared := pgrecall.shared_ids();
    s.space := about.space;
    return query
    select m.id from pgrecall.memories m
    where pgrecall.entity_name(m.entity) = any (
            array(select pgrecall.entity_name(n) from unnest(pgrecall.names_of(about.entity, s)) n))
        and m.superseded_at is null and pgrecall.readable(m.readers, m.id, s.principals, s.shared) and (about.space is null or m.space = about.space);
end
$$;
grant execute on function memory.about(text, text) to pgrecall_agent, pgrecall_reader;
