-- The language that a name or an ISO 639-1 code means ('French', 'fr', 'fr-CA'), as the column `language` has it.
-- Null for what can't be searched by its stems; Chinese, Japanese and Korean are, by pairs of characters.
create or replace function pgrecall.language_named(name text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select k.language
from (values
    ('arabic', 'ar'), ('armenian', 'hy'), ('basque', 'eu'), ('catalan', 'ca'), ('chinese', 'zh'), ('danish', 'da'),
    ('dutch', 'nl'), ('english', 'en'), ('finnish', 'fi'), ('french', 'fr'), ('german', 'de'), ('greek', 'el'),
    ('hindi', 'hi'), ('hungarian', 'hu'), ('indonesian', 'id'), ('irish', 'ga'), ('italian', 'it'),
    ('japanese', 'ja'), ('korean', 'ko'), ('lithuanian', 'lt'), ('nepali', 'ne'), ('norwegian', 'no'),
    ('norwegian', 'nb'), ('portuguese', 'pt'), ('romanian', 'ro'), ('russian', 'ru'), ('serbian', 'sr'),
    ('simple', null), ('spanish', 'es'), ('swedish', 'sv'), ('tamil', 'ta'), ('turkish', 'tr'), ('yiddish', 'yi')
) as k(language, code)
where lower(name) = k.language or lower(name) ~ ('^' || k.code || '([-_]|$)')
$$;
