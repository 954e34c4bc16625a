-- The sum over a query's words as an expression over `lexemes`: written out, because a subquery over the
-- words for every candidate took three times as long.
create or replace function pgrecall.lexical_scoring(words pgrecall.query_word[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- ts_rank divides by the number of a term's lexemes, of which a row holds one, and takes any of them for a
    -- phrase's.
    return (
        select string_agg(format(
            case when w.term::text ~ '<|:B' then '%1$s * power(case when lexemes @@ %2$L::tsquery then %3$s else 0 end * %4$s, 0.35::float8)'
                else '%1$s * power(%3$s * %4$s, 0.35::float8)' end,
            power(w.idf, 1.25), w.term, format('ts_rank(''{0.33, 0.33, 0.66, 1.0}'', lexemes, %L::tsquery)', w.term),
            (numnode(w.term) + 1) / 2), ' + ' order by w.lexeme)
        from unnest(words) w);
end
$$;
