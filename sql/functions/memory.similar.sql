-- The memories of the same space that say nearly the same as one, among what the session sees, the likest first:
-- how many of both's words they share (`overlap`, 1 for all), and how near in meaning they are (`distance`).
create or replace function memory.similar(id uuid, k int default 5) returns setof memory.likeness
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
    select r.id, r.version, r.title, r.content, r.overlap, r.distance, r.why
    from pgrecall.resemblances(pgrecall.head_to_compare("similar".id)) r
    where not r.contradicts
    limit "similar".k;
end
$$;
grant execute on function memory.similar(uuid, int) to pgrecall_agent, pgrecall_reader;
