-- Rows in other languages: which of them are in use, so that a query is stemmed as their rows were.

-- Every language that Postgres 16 stems; the others of its languages need no stems. Rows are not rewritten: no
-- memory could name one of the new languages before.
create or replace function pgrecall.text_configuration(language text) returns regconfig
language sql immutable parallel safe
return case language
    when 'arabic' then 'arabic'::regconfig when 'armenian' then 'armenian'::regconfig
    when 'basque' then 'basque'::regconfig when 'catalan' then 'catalan'::regconfig
    when 'danish' then 'danish'::regconfig when 'dutch' then 'dutch'::regconfig
    when 'finnish' then 'finnish'::regconfig when 'french' then 'french'::regconfig
    when 'german' then 'german'::regconfig when 'greek' then 'greek'::regconfig
    when 'hindi' then 'hindi'::regconfig when 'hungarian' then 'hungarian'::regconfig
    when 'indonesian' then 'indonesian'::regconfig when 'irish' then 'irish'::regconfig
    when 'italian' then 'italian'::regconfig when 'lithuanian' then 'lithuanian'::regconfig
    when 'nepali' then 'nepali'::regconfig when 'norwegian' then 'norwegian'::regconfig
    when 'portuguese' then 'portuguese'::regconfig when 'romanian' then 'romanian'::regconfig
    when 'serbian' then 'serbian'::regconfig when 'simple' then 'simple'::regconfig
    when 'spanish' then 'spanish'::regconfig when 'swedish' then 'swedish'::regconfig
    when 'tamil' then 'tamil'::regconfig when 'turkish' then 'turkish'::regconfig
    when 'yiddish' then 'yiddish'::regconfig
    else 'russian'::regconfig
end;

-- The languages, beside the default's, that some memory was ever written in. Small: a reference table on Citus.
create table pgrecall.languages (
    language text primary key check (pgrecall.text_configuration(language) <> 'russian'::regconfig)
);
alter table pgrecall.languages enable row level security;
insert into pgrecall.languages (language)
select distinct m.language from pgrecall.memories m
where pgrecall.text_configuration(m.language) <> 'russian'::regconfig;
