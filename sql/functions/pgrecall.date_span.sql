-- The span of time that a line of symbols begins with, its prepositions and both its ends included, and how many
-- symbols say it. No symbols where it begins with none; no span where the date is a topic.
create or replace function pgrecall.date_span(said text, now timestamptz, out tokens int, out span tstzrange)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    prefix text := coalesce(substring(said from
        '^(?:(?:week of|in|on|na|of|the|for(?! (?:in|on) )|about|since|until|upto|before|after|from|between) )+'), '');
    lead text[] := string_to_array(rtrim(prefix), ' ');
    ranging boolean := lead && '{between,from,since}';
    body text := substr(said, length(prefix) + 1);
    first record := pgrecall.date_phrase(body, lead, now, now::timestamp);
    last record;
    tail text := substr(body, length(first.matched) + 2);
    joint text := split_part(tail, ' ', 1);
begin
    joint := case
        when 'between' = any (lead) then nullif(joint, 'to')
        when ranging then nullif(joint, 'and')
        when joint = 'to' then joint
    end;
    if joint not in ('and', 'to', 'until', 'upto') then
        joint := null;
    end if;
    if first.matched is null or not (first.alone or lead && first.licence)
        -- A letter from June may be from a person.
        or (first.shape = 'month' and not first.alone and 'from' = any (lead) and joint is null)
    then
        return;
    end if;
    tokens := cardinality(string_to_array(prefix || first.matched, ' '));
    -- What is for a time to come, or for a longer one, is about it: a plan for tomorrow, the budget for 2024.
    if 'about' = any (lead) or ('for' = any (lead) and first.since > now::timestamp)
        or (lead && '{for,na}' and first.shape not in ('unit', 'rolling')
            and (first.until > first.since + interval '1 day' or first.since > now::timestamp))
    then
        return;
    end if;
    if 'week' = any (lead) and first.shape = 'day' then
        first.since := date_trunc('week', first.since);
        first.until := first.since + interval '7 days';
    end if;
    if joint is not null then
        last := pgrecall.date_phrase(substr(tail, length(joint) + 2), '{between}', now, case
            when first.anchored or first.shape not in ('day', 'days', 'month', 'quarter') then now::timestamp
            else first.since + interval '1 year -1 day' end);
        if last.matched is not null and (last.alone or ranging) then
            if first.anchored then
                first := pgrecall.date_phrase(body, '{between}', now, last.since);
            end if;
            if first.since < last.until then
                tokens := tokens + 1 + cardinality(string_to_array(last.matched, ' '));
                span := tstzrange(first.since::timestamptz, last.until::timestamptz);
                return;
            end if;
        end if;
    end if;
    span := case
        when first.shape = 'days' then tstzrange(first.since::timestamptz, first.until::timestamptz)
        when 'since' = any (lead) then tstzrange(first.since::timestamptz, null)
        when 'after' = any (lead) then tstzrange(first.until::timestamptz, null)
        when lead && '{before,upto}' then tstzrange(null, first.since::timestamptz)
        when 'until' = any (lead) then tstzrange(null, first.until::timestamptz)
        else tstzrange(first.since::timestamptz, first.until::timestamptz)
    end;
end
$$;
