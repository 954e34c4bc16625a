-- The query's words by their default stems, each with the stems that rows of other languages have of it. What
-- the default language holds for a stop word stays one: its noise would reach every row of the others.
create or replace function pgrecall.query_lexemes(query text)
returns table (lexeme text, variants text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    words tsvector := pgrecall.words(query, null);
    plain text;
begin
    if not exists (select from pgrecall.languages) then
        return query select w.lexeme, array[w.lexeme] from unnest(words) w;
        return;
    end if;
    plain := pgrecall.parts(pgrecall.fold(query));
    return query
    -- The parser gives a word the same place, whatever the language.
    with placed as (
        select w.lexeme, p.place
        from unnest(to_tsvector(pgrecall.text_configuration(null), plain)) w, unnest(w.positions) as p(place)
    ), elsewhere as (
        select distinct p.lexeme, w.lexeme as variant
        from pgrecall.languages l
        cross join lateral unnest(to_tsvector(pgrecall.text_configuration(l.language), plain)) w
        cross join lateral unnest(w.positions) as q(place)
        join placed p on p.place = q.place and p.lexeme <> w.lexeme
    )
    select w.lexeme, array[w.lexeme] || array(
        select e.variant from elsewhere e where e.lexeme = w.lexeme order by e.variant)
    from unnest(words) w;
end
$$;
