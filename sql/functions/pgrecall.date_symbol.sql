-- What a word means to the grammar of dates, the same for English and Russian; '?' where it means nothing.
-- m5 is surely a month, a5 may be a verb, r5 may be a name; w1 is Monday, v1 its abbreviation; d-1 yesterday;
-- x announces a number that is no date, about a date that is a topic, ~ follows a year where no noun does.
create or replace function pgrecall.date_symbol(raw text, first boolean) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    word text := replace(lower(raw), 'ё', 'е');
    english int;
    russian int;
begin
    -- Few regular expressions on the way of a plain word: Postgres keeps only 32 compiled ones a session.
    if word ~ '[-–''’\d]' then
        word := regexp_replace(word, '^(mid|early|late)-|[''’]s$', '', 'g');
        if word ~ '\d' then
            return coalesce(pgrecall.date_number(word), '?');
        end if;
    end if;
    english := coalesce(
        array_position('{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}', replace(word, 'sept', 'sep')),
        array_position(
            '{january,february,march,april,may,june,july,august,september,october,november,december}', word));
    russian := array_position('{январ,феврал,март,апрел,май,июн,июл,август,сентябр,октябр,ноябр,декабр}',
        case when word in ('мая', 'мае', 'маю', 'маем') then 'май' else rtrim(word, 'ьяюеамоу') end);
    return case
        when english in (3, 5) and (first or raw = lower(raw)) then 'a' || english
        when english is not null then 'm' || english
        when russian in (3, 5, 8) and raw <> lower(raw) then 'r' || russian
        when russian is not null then 'm' || russian
        else coalesce(pgrecall.date_word(word), '?')
    end;
end
$$;
