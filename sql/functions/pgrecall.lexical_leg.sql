-- The memories that hold the query's words, best first. A word adds its IDF, a little sharpened, times the
-- root of ts_rank, which keeps one often repeated word from outweighing several; longer texts pay a little.
-- Measured on five sets: figures in bench/retrieval.
create or replace function pgrecall.lexical_leg(query text, s pgrecall.scope, pool int)
returns setof pgrecall.lexical_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    terms tsquery[];
    idfs real[];
    selector tsquery;
    hits pgrecall.lexical_hit[];
begin
    select array_agg(w.term), array_agg(power(w.idf, 1.25)) into terms, idfs
    from pgrecall.query_words(query) w where w.holders > 0;
    foreach selector in array pgrecall.candidate_queries(query, s.visible, pool) loop
        hits := array(
            select row(found.space, found.id, found.version, found.score, found.share,
                row_number() over (order by found.score desc, found.id, found.version))::pgrecall.lexical_hit
            from (
                select m.space, m.id, m.version, scored.share,
                    (scored.score / power(length(m.lexemes) + 20, 0.1))::real as score
                from (
                    -- Fetched and decompressed once a row, and not once a word.
                    select m.space, m.id, m.version, m.lexemes || ''::tsvector as lexemes
                    from pgrecall.memories m
                    where m.lexemes @@ selector and pgrecall.in_scope(m, s)
                    offset 0
                ) as m
                cross join lateral (
                    select sum(w.idf * sqrt(w.weight)) as score,
                        (sum(w.idf) filter (where w.weight > 0) / sum(w.idf))::real as share
                    from (
                        -- ts_rank divides by the number of a term's lexemes, of which a row holds one.
                        select given.idf, ts_rank('{0.33, 0.33, 0.66, 1.0}', m.lexemes, given.term)
                            * (numnode(given.term) + 1) / 2 as weight
                        from unnest(terms, idfs) as given(term, idf)
                    ) as w
                ) as scored
            ) as found
            order by found.score desc, found.id, found.version
            limit pool);
        exit when cardinality(hits) >= pool;
    end loop;
    return query select h.* from unnest(hits) h;
end
$$;
