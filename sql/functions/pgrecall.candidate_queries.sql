-- Which rows the lexical leg scores: one or two tsqueries, to be tried in turn until the pool is full; the
-- words are given rarest first.
-- They come in while about 300 visible rows hold them; commoner words only add to scores.
-- Where even the rarest word is too common, the rows that hold several of the rare ones come first.
-- A row without the query's quoted phrases is no candidate, and a row with them is one by that.
create or replace function pgrecall.candidate_queries(
    words pgrecall.query_word[], required tsquery, visible real, pool int
) returns tsquery[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    budget constant real := 300;
    total real := greatest(pgrecall.memory_count(), visible, 1);
    word pgrecall.query_word;
    expected real := 0;
    rows real;
    chosen tsquery;
    narrowed tsquery;
begin
    foreach word in array words loop
        rows := word.holders * least(visible / total, 1);
        if chosen is null then
            chosen := word.term;
            expected := rows;
        elsif expected + rows <= budget then
            chosen := chosen || word.term;
            expected := expected + rows;
        elsif expected > budget and expected * word.holders / total >= 2 * pool then
            narrowed := coalesce(narrowed, chosen) && word.term;
            expected := expected * word.holders / total;
        else
            exit;
        end if;
    end loop;
    if required is not null and chosen is not null then
        narrowed := narrowed && required;
        chosen := required;
    end if;
    return array_remove(array[narrowed, chosen], null);
end
$$;
