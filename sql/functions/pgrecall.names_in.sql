-- The runs of words in a query that may be an entity's name, as names are compared: up to six words, without the
-- punctuation around them; of Chinese, Japanese and Korean, which have no blanks, up to eight characters.
create or replace function pgrecall.names_in(query text) returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    most_words constant int := 40;
    around constant text := ' .,;:!?…"''“”„«»‘’()[]{}<>。，！？；：「」『』（）';
    folded text := pgrecall.entity_name(left(query, 1000));
    words text[] := (regexp_split_to_array(folded, '\s'))[:most_words];
    names text[];
begin
    names := array(
        select distinct btrim(array_to_string(words[first : last], ' '), around)
        from generate_series(1, cardinality(words)) as first
        cross join lateral generate_series(first, least(first + 5, cardinality(words))) as last);
    if folded ~ '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]' then
        names := names || array(
            select distinct substr(run.found[1], first, size)
            from regexp_matches(left(folded, 100),
                '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+', 'g') as run(found)
            cross join lateral generate_series(1, length(run.found[1])) as first
            cross join lateral generate_series(2, least(8, length(run.found[1]) - first + 1)) as size);
    end if;
    return array_remove(names, '');
end
$$;
