-- Narrow a scope to the dates that a query names, where it has no dates of its own. `words` are those left to rank
-- by; with none left the span is `listed`. A date without any memory is hardly when something happened ("the
-- rules of 2009"): the query is then asked as it stands, and `unmet` says so. A bare date stays empty.
create or replace function pgrecall.narrow_to_dates(
    query text, mode text, inout s pgrecall.scope, out words text, out listed boolean, out unmet text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    dates record;
    unbounded constant pgrecall.scope := s;
begin
    words := query;
    listed := false;
    if mode = 'exact' or s.since is not null or s.until is not null then
        return;
    end if;
    -- Nobody's today: an infinite as_of, or one out of the calendar's reach.
    dates := pgrecall.dates_in(query, case when s.as_of between '1900-01-01' and '9000-01-01' then s.as_of else now() end);
    if dates.since is null and dates.until is null then
        return;
    end if;
    s.since := dates.since;
    s.until := dates.until;
    if pgrecall.words(dates.rest, null) = '' then
        words := '';
        listed := true;
    elsif exists (select from pgrecall.memories m where pgrecall.in_scope(m, s)) then
        words := dates.rest;
    else
        s := unbounded;
        unmet := concat_ws(' ', 'no memory is dated', 'from ' || dates.since, 'before ' || dates.until)
            || ', so all dates were searched';
    end if;
end
$$;
