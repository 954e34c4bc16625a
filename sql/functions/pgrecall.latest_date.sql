-- The day of that year; without a year, the latest such day up to the anchor. Null where the calendar has none.
create or replace function pgrecall.latest_date(of_year int, of_month int, of_day int, anchor date) returns date
language sql immutable
set search_path = pg_catalog, pg_temp
return (
    select max(c.day)
    from generate_series(
        coalesce(of_year, extract(year from anchor)::int - 8), coalesce(of_year, extract(year from anchor)::int)) as y(year)
    cross join lateral (select make_date(y.year, of_month, 1) + (of_day - 1) as day) as c
    where of_day > 0 and extract(month from c.day) = of_month and (of_year is not null or c.day <= anchor));
