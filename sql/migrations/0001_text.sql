-- How a text becomes searchable words. These functions feed a stored column: changing one means
-- a new migration that rewrites the column, so they stand here and not among the re-applied functions.
-- A body in `return` form is bound to its operators when it is created, so that no search_path can change
-- it; a setting of its own would only keep it from being inlined.

-- What recall() and remember() take from the gateway: '<model> […]' or '<model> ! <reason>'.
create domain memory.query_embedding as text;
grant usage on type memory.query_embedding to pgrecall_agent, pgrecall_reader, pgrecall_service;

-- Fold what writers spell differently: ё to е, Latin letters without their accents.
create function pgrecall.fold(value text) returns text
language sql immutable parallel safe strict
return case
    when value !~ '[^\x01-\x7f]' then value
    else normalize(
        regexp_replace(normalize(translate(value, 'ёЁ', 'еЕ'), nfkd), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'),
        nfc)
end;

-- Overlapping pairs of neighbouring Chinese, Japanese or Korean characters, for which
-- Postgres has no word borders; a lone character stands for itself. Bounded: a tsvector holds 1 MB.
create function pgrecall.bigrams(value text) returns text
language sql immutable parallel safe strict
return (
    select string_agg(
        case when length(run) = 1 then run
            else (select string_agg(substr(run, first, 2), ' ') from generate_series(1, length(run) - 1) as first)
        end, ' ')
    from regexp_split_to_table(left(value, 30000), '[^\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+') as run
    where run <> '');

-- Identifiers, paths, versions, addresses and hyphenated words, whole and in lower case.
create function pgrecall.identifiers(value text) returns text[]
language sql immutable parallel safe strict
return coalesce((
    select array_agg(distinct lower(found[1]))
    from regexp_matches(value, '([[:alnum:]]+(?:[-_./:@#+\\]+[[:alnum:]]+)+|[[:lower:]][[:alnum:]]*[[:upper:]][[:alnum:]]*)', 'g') as found
    where length(found[1]) <= 200), '{}');

-- The same text with identifiers taken apart, so that each part is a word of its own.
create function pgrecall.parts(value text) returns text
language sql immutable parallel safe strict
return regexp_replace(
    regexp_replace(value, '([[:alnum:]])[-_./:@#+\\]+(?=[[:alnum:]])', '\1 ', 'g'),
    '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g');

-- The configuration of a language by its name; Postgres' russian stems English words too.
create function pgrecall.text_configuration(language text) returns regconfig
language sql immutable parallel safe
return case language
    when 'arabic' then 'arabic'::regconfig when 'danish' then 'danish'::regconfig
    when 'dutch' then 'dutch'::regconfig when 'finnish' then 'finnish'::regconfig
    when 'french' then 'french'::regconfig when 'german' then 'german'::regconfig
    when 'greek' then 'greek'::regconfig when 'hungarian' then 'hungarian'::regconfig
    when 'indonesian' then 'indonesian'::regconfig when 'irish' then 'irish'::regconfig
    when 'italian' then 'italian'::regconfig when 'lithuanian' then 'lithuanian'::regconfig
    when 'norwegian' then 'norwegian'::regconfig when 'portuguese' then 'portuguese'::regconfig
    when 'romanian' then 'romanian'::regconfig when 'simple' then 'simple'::regconfig
    when 'spanish' then 'spanish'::regconfig when 'swedish' then 'swedish'::regconfig
    when 'tamil' then 'tamil'::regconfig when 'turkish' then 'turkish'::regconfig
    else 'russian'::regconfig
end;

-- The searchable words of one text, with positions. PL/pgSQL, because a stored column's expression is
-- planned anew for every statement: only a function's own plans are kept.
create function pgrecall.words(value text, language text) returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    folded text := pgrecall.fold(value);
    found tsvector := to_tsvector(pgrecall.text_configuration(language), pgrecall.parts(folded));
begin
    if folded ~ '[[:alnum:]][-_./:@#+\\]+[[:alnum:]]|[[:lower:]][[:upper:]]' then
        found := found || array_to_tsvector(pgrecall.identifiers(folded));
    end if;
    if folded ~ '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]' then
        found := found || to_tsvector('simple', coalesce(pgrecall.bigrams(folded), ''));
    end if;
    return found;
end
$$;

-- The searchable words of a memory: title in weight A, entity in B, content in D.
create function pgrecall.lexemes(title text, entity text, content text, language text) returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    found tsvector := pgrecall.words(content, language);
begin
    if title is not null then
        found := setweight(pgrecall.words(title, language), 'A') || found;
    end if;
    if entity is not null then
        found := setweight(pgrecall.words(entity, language), 'B') || found;
    end if;
    return found;
end
$$;
