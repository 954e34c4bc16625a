-- The symbols of words that dates are said with, in lower case and without ё; null for any other word.
create or replace function pgrecall.date_word(word text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return case
        when word in ('in', 'during', 'within', 'over', 'throughout', 'at', 'в', 'во', 'за') then 'in'
        when word in ('on') then 'on'
        when word in ('на') then 'na'
        when word in ('the', 'тому') then 'the'
        when word in ('of') then 'of'
        when word in ('and', 'и') then 'and'
        when word in ('since', 'с', 'со') then 'since'
        when word in ('from', 'от') then 'from'
        when word in ('to', 'по', '-', '–', '—') then 'to'
        when word in ('between', 'между') then 'between'
        when word in ('until', 'till', 'through') then 'until'
        when word in ('before') then 'before'
        when word in ('до') then 'upto'
        when word in ('after', 'после') then 'after'
        when word in ('ago', 'назад') then 'ago'
        when word in ('for', 'для') then 'for'
        when word in ('about', 'as', 'by', 'due', 'deadline', 'expires', 'expire', 'expiring', 'ends', 'scheduled',
            'к', 'ко', 'дедлайн', 'срок', 'истекает') then 'about'
        when word in ('last', 'previous', 'прошлый', 'прошлая', 'прошлую', 'прошлой', 'прошлом', 'прошлого',
            'прошлое', 'прошлые', 'прошлых', 'предыдущий', 'предыдущая', 'предыдущую', 'предыдущей',
            'предыдущем', 'предыдущего', 'предыдущее', 'предыдущие', 'предыдущих') then 'last'
        when word in ('past', 'последний', 'последнюю', 'последнее', 'последние', 'последних',
            'последнего') then 'past'
        when word in ('this', 'current', 'этот', 'эту', 'этой', 'этом', 'текущий', 'текущую', 'текущей',
            'текущем', 'нынешнем') then 'this'
        when word in ('next', 'coming', 'upcoming', 'следующий', 'следующая', 'следующую', 'следующей',
            'следующем', 'следующего', 'следующее', 'следующие', 'следующих', 'будущем', 'ближайшие',
            'ближайших') then 'next'
        when word in ('час') then 'hour1'
        when word in ('hour', 'hours', 'часа', 'часов') then 'hour'
        when word in ('день') then 'day1'
        when word in ('day', 'days', 'дня', 'дней', 'дни', 'сутки', 'суток') then 'day'
        when word in ('неделю') then 'week1'
        when word in ('week', 'weeks', 'неделя', 'недели', 'неделе', 'недель') then 'week'
        when word in ('месяц') then 'month1'
        when word in ('month', 'months', 'месяца', 'месяце', 'месяцев') then 'month'
        when word in ('квартал') then 'quarter1'
        when word in ('quarter', 'quarters', 'квартала', 'квартале', 'кварталов') then 'quarter'
        when word in ('год') then 'year1'
        when word in ('year', 'years', 'года', 'году', 'лет', 'г', 'г.') then 'year'
        when word in ('today', 'tonight', 'сегодня', 'сегодняшний', 'сегодняшнего', 'сегодняшние') then 'd+0'
        when word in ('yesterday', 'вчера', 'вчерашний', 'вчерашнего', 'вчерашнем', 'вчерашние', 'вчерашняя',
            'вчерашнюю', 'вчерашней') then 'd-1'
        when word in ('tomorrow', 'завтра', 'завтрашний', 'завтрашнего') then 'd+1'
        when word in ('позавчера') then 'd-2'
        when word in ('послезавтра') then 'd+2'
        when word in ('morning', 'afternoon', 'evening', 'night', 'утром', 'днем', 'вечером',
            'ночью') then 'part'
        when word in ('early', 'mid', 'late', 'beginning', 'middle', 'end', 'начале', 'начала', 'середине',
            'середины', 'конце', 'конца') then 'edge'
        when word in ('a', 'an') then 'an'
        when word in ('two', 'два', 'две') then '2'
        when word in ('three', 'три') then '3'
        when word in ('four', 'четыре') then '4'
        when word in ('five', 'пять') then '5'
        when word in ('six', 'шесть') then '6'
        when word in ('seven', 'семь') then '7'
        when word in ('eight', 'восемь') then '8'
        when word in ('nine', 'девять') then '9'
        when word in ('ten', 'десять') then '10'
        when word in ('twelve', 'двенадцать') then '12'
        when word in ('first', 'первый', 'первого', 'первом') then 'o1'
        when word in ('second', 'второй', 'второго', 'втором') then 'o2'
        when word in ('third', 'третий', 'третьего', 'третьем') then 'o3'
        when word in ('fourth', 'четвертый', 'четвертого', 'четвертом') then 'o4'
        when word in ('weekend', 'weekends', 'выходных', 'выходные') then 'weekend'
        when word in ('version', 'ver', 'release', 'build', 'port', 'id', 'issue', 'ticket', 'error', 'code',
            'line', 'page', 'pr', 'rfc', 'step', 'chapter', 'версия', 'версии', 'порт', 'номер', 'ошибка',
            'код', 'задача', 'строка', 'страница', 'шаг', 'глава') then 'x'
        when word in ('i', 'we', 'you', 'he', 'she', 'it', 'they', 'did', 'do', 'does', 'was', 'were', 'is',
            'are', 'has', 'have', 'had', 'what', 'who', 'when', 'where', 'how', 'why', 'which', 'with', 'or',
            'but', 'я', 'мы', 'ты', 'вы', 'он', 'она', 'оно', 'они', 'что', 'кто', 'где', 'когда', 'как',
            'почему', 'был', 'была', 'было', 'были', 'у', 'о', 'об') then '~'
        when word in ('monday', 'понедельник', 'понедельника', 'понедельнику', 'понедельником') then 'w1'
        when word in ('tuesday', 'вторник', 'вторника', 'вторнику', 'вторником') then 'w2'
        when word in ('wednesday', 'среду', 'среды', 'среде') then 'w3'
        when word in ('thursday', 'четверг', 'четверга', 'четвергу', 'четвергом') then 'w4'
        when word in ('friday', 'пятницу', 'пятницы', 'пятнице', 'пятницей') then 'w5'
        when word in ('saturday', 'субботу', 'субботы', 'субботе', 'субботой') then 'w6'
        when word in ('sunday', 'воскресенье', 'воскресенья', 'воскресенью', 'воскресеньем') then 'w7'
        when word in ('mon') then 'v1'
        when word in ('tue', 'tues') then 'v2'
        when word in ('wed') then 'v3'
        when word in ('thu', 'thur', 'thurs') then 'v4'
        when word in ('fri') then 'v5'
    end;
end
$$;
