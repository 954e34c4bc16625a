-- Where the next slice of a scope begins, for who goes through it from its end to the past, so many versions of the
-- store at a time; null where it is the last. A slice takes an amount of work that is known, whatever the scope
-- leaves of it, so that the clock can be looked at between two.
create or replace function pgrecall.next_slice(s pgrecall.scope, rows int) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    begins timestamptz := (
        select m.happened_at from pgrecall.memories m
        where m.happened_at < coalesce(s.until, 'infinity')
        order by m.happened_at desc
        offset rows limit 1);
begin
    return case when begins > coalesce(s.since, '-infinity') then begins end;
end
$$;
