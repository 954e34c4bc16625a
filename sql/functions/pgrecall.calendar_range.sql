-- The days of a calendar date, which without a year is the latest one up to the anchor; null where the
-- calendar has none. `said` is the year, the month or quarter, the day, and the last day of several.
create or replace function pgrecall.calendar_range(
    shape text, said int[], anchor date, out since timestamp, out until timestamp
)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    case shape
    when 'day', 'days' then
        until := pgrecall.latest_date(said[1], said[2], coalesce(said[4], said[3]), anchor) + 1;
        since := until - make_interval(days => coalesce(said[4], said[3]) - said[3] + 1);
        if said[3] not between 1 and coalesce(said[4], said[3]) then
            since := null;
        end if;
    when 'month' then
        since := pgrecall.latest_date(said[1], said[2], 1, anchor);
        until := since + interval '1 month';
    when 'quarter' then
        since := pgrecall.latest_date(said[1], said[2] * 3 - 2, 1, anchor);
        until := since + interval '3 months';
    when 'year' then
        -- Beyond, a number of four digits is hardly a year.
        since := case when said[1] between 1970 and extract(year from anchor) + 10 then make_date(said[1], 1, 1) end;
        until := since + interval '1 year';
    end case;
end
$$;
