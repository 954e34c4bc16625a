-- The memories that hold the query's words, best first: the sum over words of IDF times ts_rank.
-- Candidates come from the rarest words, until about 2,000 rows; commoner words only add to scores.
create or replace function pgrecall.lexical_leg(query text, s pgrecall.scope, pool int)
returns setof pgrecall.lexical_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    budget constant real := 2000;
    terms tsquery[];
    idfs real[];
    selective tsquery[];
    selector tsquery;
begin
    select array_agg(w.term), array_agg(w.idf),
        array_agg(w.term) filter (where w.together <= budget or w.together = w.holders)
    into terms, idfs, selective
    from (
        select q.query_term as term, q.idf, q.holders,
            sum(q.holders) over (order by q.holders, q.lexeme rows unbounded preceding) as together
        from pgrecall.query_words(query) q
        where q.holders > 0
    ) as w;
    if terms is null then
        return;
    end if;
    selector := pgrecall.any_of(selective);
    return query
    select found.space, found.id, found.version, found.score, found.share,
        row_number() over (order by found.score desc, found.id, found.version)::int
    from (
        select m.space, m.id, m.version, scored.score, scored.share
        from pgrecall.memories m
        cross join lateral (
            select sum(w.idf * w.weight)::real as score,
                (sum(w.idf) filter (where w.weight > 0) / sum(w.idf))::real as share
            from (
                select given.idf, ts_rank('{0.33, 0.33, 0.66, 1.0}', m.lexemes, given.term, 1) as weight
                from unnest(terms, idfs) as given(term, idf)
            ) as w
        ) as scored
        where m.lexemes @@ selector and pgrecall.in_scope(m, s)
    ) as found
    order by found.score desc, found.id, found.version
    limit pool;
end
$$;
