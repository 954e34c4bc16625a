-- The memories that hold the query's words, best first. A word adds its IDF, a little sharpened, times
-- ts_rank to the power 0.35, which keeps one often repeated word from outweighing several; longer texts pay a little.
-- Measured on five sets: figures in bench/retrieval.
create or replace function pgrecall.lexical_leg(query text, s pgrecall.scope, pool int)
returns setof pgrecall.lexical_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
as $$
declare
    most_words constant int := 100;
    words pgrecall.query_word[] := array(
        select row(w.lexeme, w.term, w.holders, w.idf)::pgrecall.query_word
        from (
            select q.* from pgrecall.query_words(query, (s.principals, s.shared)) q where q.holders > 0
            union all select e.* from pgrecall.entity_words(query, s) e where e.term is not null
        ) as w
        order by w.holders, w.lexeme limit most_words);
    scoring text := pgrecall.lexical_scoring(words);
    -- Words of tens of thousands of memories tell them hardly apart: of these the newest are scored.
    crowded constant boolean := words[1].holders * least(s.visible / greatest(pgrecall.memory_count(), 1), 1) > 20000;
    selector tsquery;
    bounded pgrecall.scope := s;
    hits pgrecall.lexical_hit[];
begin
    foreach selector in array pgrecall.candidate_queries(words, pgrecall.required_phrases(query, s), s.visible, pool) loop
        exit when coalesce(cardinality(hits), 0) > 0 and pgrecall.late('the commoner words');
        if crowded then
            bounded.since := coalesce(pgrecall.since_newest(selector, s, 5000), s.since);
        end if;
        execute format(
            'select array(
                select row(f.space, f.id, f.version, f.score, f.score / max(f.score) over (),
                    row_number() over (order by f.score desc, f.id, f.version))::pgrecall.lexical_hit
                from (
                    select m.space, m.id, m.version, ((%s) / power(length(m.lexemes) + 20.0::float8, 0.1::float8))::real as score
                    from (
                        -- Fetched and decompressed once a row, and not once a word.
                        select m.space, m.id, m.version, m.lexemes || ''''::tsvector as lexemes
                        from pgrecall.memories m
                        where m.lexemes @@ $1 and pgrecall.in_scope(m, $2)
                        offset 0
                    ) as m
                ) as f
                order by f.score desc, f.id, f.version
                limit $3)', scoring)
        into hits using selector, bounded, pool;
        exit when cardinality(hits) >= pool;
    end loop;
    return query select h.* from unnest(hits) h;
end
$$;
