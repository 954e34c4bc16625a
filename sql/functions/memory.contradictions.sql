-- The memories of the same space that say something else of the same thing than one does, among what the session
-- sees: of the same entity, by any of its names, of the same key in other hands, or in nearly the same words.
create or replace function memory.contradictions(id uuid, k int default 5) returns setof memory.contradiction
language plpgsql stable security definer rows 5
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_column
begin
    if coalesce(k not between 1 and 100, true) then
        raise exception 'k must be between 1 and 100, not %', coalesce(k::text, 'null') using errcode = '22023';
    end if;
    return query
    select r.id, r.version, r.title, r.content, r.why
    from pgrecall.resemblances(pgrecall.head_to_compare(contradictions.id)) r
    where r.contradicts
    limit contradictions.k;
end
$$;
grant execute on function memory.contradictions(uuid, int) to pgrecall_agent, pgrecall_reader;
