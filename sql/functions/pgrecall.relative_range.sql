-- The days of a date that is said relative to now. "Last 3 days" begins with the whole day, three days ago,
-- and ends with today: what is narrowed too far hides memories. Null where nothing sensible is meant.
create or replace function pgrecall.relative_range(
    shape text, which text, number int, unit text, now timestamptz, out since timestamp, out until timestamp
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    today constant timestamp := date_trunc('day', now::timestamp);
    step constant interval := case unit when 'quarter' then '3 months' else ('1 ' || unit)::interval end;
    shift constant int := case which when 'last' then -1 when 'next' then 1 else 0 end;
    back int;
begin
    case shape
    when 'said day' then
        since := today + make_interval(days => case which when 'last' then -1 when 'twice' then 2 * number else number end);
        until := case when which = 'last' then today + interval '1 day' end;
    when 'rolling' then
        since := case which when 'next' then today else (now - number * step)::timestamp end;
        if unit <> 'hour' then
            since := date_trunc('day', since);
        end if;
        until := today + interval '1 day' + case which when 'next' then number * step else interval '0' end;
    when 'unit' then
        if unit not in ('hour', 'day') then
            since := date_trunc(unit, now::timestamp) + shift * step;
            until := since + step;
        end if;
    when 'day of month' then
        since := date_trunc('month', today) + make_interval(months => shift);
        since := case when number between 1 and extract(day from since + interval '1 month -1 day')
            then since + make_interval(days => number - 1) end;
    when 'day of week' then
        since := date_trunc('week', today) + make_interval(days => 7 * shift + number - 1);
    when 'ago' then
        since := date_trunc(unit, (now - coalesce(number, 1) * step)::timestamp);
        until := since + step;
    when 'named month' then
        back := (extract(month from today)::int - number + 12) % 12;
        back := case which when 'last' then case back when 0 then 12 else back end
            when 'next' then back - 12 else extract(month from today)::int - number end;
        since := date_trunc('month', today) - make_interval(months => back);
        until := since + interval '1 month';
    when 'weekday' then
        back := (extract(isodow from today)::int - number + 7) % 7;
        back := case which when 'last' then case back when 0 then 7 else back end
            when 'next' then back - 7 when 'this' then extract(isodow from today)::int - number else back end;
        since := today - make_interval(days => back);
    end case;
    until := coalesce(until, since + interval '1 day');
end
$$;
