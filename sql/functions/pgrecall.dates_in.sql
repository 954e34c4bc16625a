-- The span of time that a query names, in English or Russian, as [since, until) in the session's time zone,
-- and the query without the words that say so. Several spans: where they overlap, else from the first to the
-- last of them. Without a date since and until are null and the rest is the query, letter by letter.
create or replace function pgrecall.dates_in(
    query text, now timestamptz, out since timestamptz, out until timestamptz, out rest text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    words text[];
    symbols text[];
    kept text := '';
    spans tstzrange;
    tokens int;
    span tstzrange;
    n int := 1;
begin
    rest := query;
    -- A long text is a passage to compare with, not a question; most questions name no date at all.
    if length(query) > 500 or query !~* (
        '(19|20)\d\d|q[1-4]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|day|week|year|hour|quarter|'
        'tomorrow|tonight|morning|afternoon|evening|night|сегодня|вчера|завтра|утр|вечер|час|день|дн[яе]|сутки|суток|недел|'
        'меся|кварт|год|лет|янв|фев|март|апр|ма[йяе]|ию[нл]|авг|сент|окт|ноя|дек|понедел|вторник|сред|четв|пятниц|суббот|воскр')
    then
        return;
    end if;
    -- Each token with the blanks before it: what is quoted, a word with the signs that are part of it, or signs.
    select array_agg(concat(t.m[1], t.m[2], t.m[3], t.m[4]) order by t.n),
        array_agg(case
            when t.m[2] is not null then '?'
            when t.m[3] is not null then pgrecall.date_symbol(t.m[3], t.n = 1)
            else coalesce(pgrecall.date_word(t.m[4]), '.') end order by t.n)
    into words, symbols
    from regexp_matches(query,
        '([\s,]*)(?:("[^"]*"|«[^»]*»|“[^”]*”)'
        '|([-#@$€/\\_.+]*[[:alnum:]]+(?:[-–./:_@#+%''’\\=&]+[[:alnum:]]+)*[%_/\\$(=]*)'
        '|([^\s,[:alnum:]]+))', 'g') with ordinality as t(m, n);
    while n <= cardinality(words) loop
        tokens := null;
        span := null;
        if symbols[n] not in ('?', '.', '~', 'x') and (n = 1 or symbols[n - 1] <> 'x' or left(symbols[n], 1) > '9') then
            select f.tokens, f.span into tokens, span
            from pgrecall.date_span(array_to_string(symbols[n:n + 20], ' '), now) f;
        end if;
        tokens := coalesce(tokens, 1);
        -- "The week before 3 May" is a date of its own, and not one that is read here.
        if symbols[n] in ('before', 'after') and rtrim(symbols[n - 1], '1234567')
            in ('hour', 'day', 'week', 'weekend', 'month', 'quarter', 'year', 'w')
        then
            span := null;
        end if;
        if span is null then
            kept := kept || array_to_string(words[n:n + tokens - 1], '');
        elsif spans is null or spans && span then
            spans := coalesce(spans * span, span);
        else
            spans := range_merge(spans, span);
        end if;
        n := n + tokens;
    end loop;
    if spans is not null then
        since := lower(spans);
        until := upper(spans);
        rest := btrim(regexp_replace(kept, '\s+', ' ', 'g'), ' ,;:-–—');
        rest := case when rest ~ '[[:alnum:]]' then rest else '' end;
    end if;
end
$$;
