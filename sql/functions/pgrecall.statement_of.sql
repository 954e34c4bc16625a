-- What a text says, taken apart for comparing. Of a long one the beginning, which bounds what a comparison costs.
create or replace function pgrecall.statement_of(content text, language text) returns pgrecall.statement
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    telling constant jsonb := pgrecall.telling_words();
    made pgrecall.statement;
    plain text;
    amounts text[];
    sides text[];
    names text[];
begin
    with token as (
        select t.found[1] as raw, lower(t.found[1]) as word, t.place
        from regexp_matches(
            -- A date by its parts, so that it is the same however it is written.
            regexp_replace(translate(left(pgrecall.fold(content), 2000), '’', ''''),
                '\m(\d{4})-(\d\d)-(\d\d)\M', '\1 \2 \3', 'g'),
            '[[:alnum:]]+(?:[-_./:@#+'',][[:alnum:]]+)*', 'g') with ordinality as t(found, place)
    ), told as (
        -- Most words are none of these: what can be told by a first or last letter runs no regular expression.
        select k.raw, k.word, k.place, case
            when ascii(k.word) between 48 and 57 then regexp_replace(substring(replace(k.word, ',', '')
                from '^(?:\d+(?:\.\d+)?(?=(?:ms|s|m|h|d|gb|mb|kb|tb|ghz|k|px)$)|.*)'), '^0+(?=\d)', '')
            when left(k.word, 1) = 'v' and ascii(substr(k.word, 2)) between 48 and 57 then substr(k.word, 2)
            when translate(k.word, '0123456789', '') <> k.word then k.word
            when k.raw = 'May' and k.place > 1 then '5'
            when left(w.tells, 1) = '#' then substr(w.tells, 2)
        end as amount, w.tells
        from token k cross join lateral (select telling ->> k.word as tells) as w
    )
    select array_agg(distinct t.amount) filter (where t.amount is not null),
        array_agg(distinct t.tells) filter (where right(t.tells, 1) in ('-', '+')),
        array_agg(distinct t.word) filter (
            where left(t.raw, 1) <> left(t.word, 1) and t.place > 1 and t.amount is null and t.tells is null),
        count(*) filter (where t.tells = '~') % 2 = 1,
        string_agg(t.word, ' ' order by t.place) filter (where t.amount is null and t.tells is null)
    into amounts, sides, names, made.denied, plain
    from told t;
    made.amounts := array_to_tsvector(coalesce(amounts, '{}'));
    made.sides := array_to_tsvector(coalesce(sides, '{}'));
    made.names := array_to_tsvector(coalesce(names, '{}'));
    made.words := strip(to_tsvector(pgrecall.text_configuration(language), pgrecall.parts(coalesce(plain, ''))));
    return made;
end
$$;
