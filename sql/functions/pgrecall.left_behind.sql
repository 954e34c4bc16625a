-- What an erasure leaves of that which its caller sees: memories that fit but are not its to erase, and memories
-- of other words' writers that say the same.
create or replace function pgrecall.left_behind(
    targets pgrecall.erasure[], ids uuid[], space text, key text, tag text, agent text, session uuid, source text
) returns setof memory.erased
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_variable
declare
    seen_as pgrecall.viewer := pgrecall.viewer();
    taken uuid[] := array(select t.id from unnest(targets) t);
begin
    return query
    select 'kept', count(distinct m.id) from pgrecall.memories m
    where pgrecall.readable(m.readers, m.id, seen_as) and m.id not in (select unnest(taken))
        and (ids is null or m.id = any (ids))
        and (space is null or m.space = space)
        and (key is null or m.key = key)
        and (tag is null or m.tags @> array[tag])
        and (agent is null or coalesce(m.written_by, m.agent) = agent)
        and (session is null or m.session = session)
        and (source is null or m.source = source);
    return query
    select 'echoes', count(distinct m.id) from pgrecall.memories m
    where m.echo_of in (select unnest(taken)) and m.id not in (select unnest(taken))
        and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as);
end
$$;
