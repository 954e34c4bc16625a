-- Who may read a memory from a new version on. Whoever is not its owner can take it out of a delegation by what he
-- writes, but not put it into one: else a delegate could tag his way to more than he was given.
create or replace function pgrecall.readers_after(head pgrecall.memories, next pgrecall.memories, who text) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    readers text[] := pgrecall.readers_now(next);
begin
    if who = next.agent then
        return readers;
    end if;
    return array(
        select u.reader from unnest(readers) with ordinality as u(reader, place)
        where u.reader !~ '^delegation:' or u.reader = any (head.readers)
        order by u.place);
end
$$;
