-- What a word means to the grammar of dates, the same for English and Russian; '?' where it means nothing.
-- m5 is surely a month, a5 may be a verb, r5 may be a name; w1 is Monday, v1 its abbreviation; d-1 yesterday;
-- x announces a number that is no date, about a date that is a topic, ~ follows a year where no noun does.
create or replace function pgrecall.date_symbol(raw text, first boolean) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    word text := regexp_replace(replace(lower(raw), 'ё', 'е'), '^(mid|early|late)-|[''’]s$', '', 'g');
    english int := coalesce(
        array_position('{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}', left(word, greatest(3, length(word) * (word <> 'sept')::int))),
        array_position('{january,february,march,april,may,june,july,august,september,october,november,december}', word));
    russian int := array_position('{январ,феврал,март,апрел,май,июн,июл,август,сентябр,октябр,ноябр,декабр}',
        case when word in ('мая', 'мае', 'маю', 'маем') then 'май' else rtrim(word, 'ьяюеамоу') end);
begin
    return case
        when word ~ '^[12]\d{3}$|^\d{1,3}$|^\d{1,2}[-–]\d{1,2}$' then replace(word, '–', '-')
        when word ~ '^\d{1,2}(st|nd|rd|th|-?го|-?е|-?м|-?ое)$' then substring(word from '^\d+') || 'th'
        when word ~ '^(19|20)\d\d[-/](0[1-9]|1[012])[-/](0[1-9]|[12]\d|3[01])$' then replace(word, '/', '-')
        when word ~ '^(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[012])\.(19|20)\d\d$'
            then concat_ws('-', split_part(word, '.', 3), lpad(split_part(word, '.', 2), 2, '0'), lpad(split_part(word, '.', 1), 2, '0'))
        when word ~ '^(19|20)\d\d-(0[1-9]|1[012])$' then 'ym' || word
        when word ~ '^q[1-4]$' then word
        when word ~ '^((19|20)\d\d-?q[1-4]|q[1-4][-/](19|20)\d\d)$'
            then 'yq' || substring(word from '[12]\d{3}') || substring(word from 'q[1-4]')
        when english not in (3, 5) or (not first and raw <> lower(raw)) and english is not null then 'm' || english
        when english is not null then 'a' || english
        when russian in (3, 5, 8) and raw <> lower(raw) then 'r' || russian
        when russian is not null then 'm' || russian
        else coalesce(pgrecall.date_word(word), '?')
    end;
end
$$;
