-- The date that a line of symbols begins with; `matched` is null where it begins with none. `alone`: it needs
-- no preposition; else `licence` names those it needs. `anchored`: its year was left to the anchor.
create or replace function pgrecall.date_phrase(
    said text, lead text[], now timestamptz, anchor timestamp,
    out matched text, out shape text, out alone boolean, out licence text[], out anchored boolean,
    out since timestamp, out until timestamp
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    fields text[];
    after text;
begin
    if left(said, 1) in ('?', '.', '~', '') then
        return;
    end if;
    select p.shape, p.alone, p.licence, m.found,
        string_to_array(regexp_replace(m.found, '^(' || p.pattern || ')(?: |$)', p.fields), ',', '')
    into shape, alone, licence, matched, fields
    from pgrecall.date_patterns() p
    cross join lateral (select (regexp_match(said, '^(' || p.pattern || ')(?: |$)'))[1] as found offset 0) m
    where strpos(p.starts, left(said, 1)) > 0 and m.found is not null
    order by p.n
    limit 1;
    after := split_part(substr(said, length(matched) + 2), ' ', 1);
    if (not alone and shape in ('year', 'day', 'quarter')
            and (after in ('?', 'x', 'of') or left(after, 1) between '0' and '9'))
        or (shape in ('unit', 'rolling', 'weekday') and after = 'of')
        or (shape = 'weekday' and after in ('before', 'after'))
        or (shape = 'month' and not alone and lead[cardinality(lead)] = 'the')
    then
        matched := null;
    end if;
    if matched is null then
        return;
    end if;
    -- "3 may" and "may 3" are dates with nothing behind them; "may 3 agents write" was refused above.
    alone := alone or (shape = 'day' and after in ('', '.'));
    if shape in ('day', 'days', 'month', 'quarter', 'year') then
        anchored := fields[1] is null;
        select r.since, r.until into since, until from pgrecall.calendar_range(shape, fields::int[], anchor::date) r;
    else
        anchored := false;
        -- "Last week" is the calendar's; "the past week" and "in the last week" are the last seven days.
        if shape = 'unit' and (fields[1] = 'past'
            or (fields[1] = 'last' and lead[cardinality(lead)] = 'the' and lead && '{in,for}'))
        then
            shape := 'rolling';
        end if;
        select r.since, r.until into since, until
        from pgrecall.relative_range(shape, fields[1], fields[2]::int, fields[3], now) r;
    end if;
    if since is null then
        matched := null;
    end if;
end
$$;
