-- The query's words with how many versions hold each, rarest first. Large stores take the counts from
-- ANALYZE's statistics (a word not among the commonest counts half the rarest of those); small ones count, among what
-- the caller may read: a weight must not tell that a word stands in somebody's private memory.
create or replace function pgrecall.query_words(query text, principals text[])
returns setof pgrecall.query_word
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    total real := pgrecall.memory_count();
    rarest real;
begin
    select min(h.share) / 2 into rarest from pgrecall.shares h where h.subject = 'word';
    if rarest is null then
        select count(*) into total from pgrecall.memories m where m.readers && query_words.principals;
    end if;
    return query
    select w.lexeme, w.term, w.holders, ln(1 + (greatest(total, w.holders) - w.holders + 0.5) / (w.holders + 0.5))::real
    from (
        select l.lexeme, t.term,
            case
                when rarest is null then (
                    select count(*)::real from pgrecall.memories m
                    where m.lexemes @@ t.term and m.readers && query_words.principals)
                else total * (
                    select least(sum(coalesce(h.share, rarest)), 1)::real
                    from unnest(l.variants) as v(lexeme)
                    left join pgrecall.shares h on h.subject = 'word' and h.value = v.lexeme)
            end as holders
        from pgrecall.query_lexemes(query) l
        cross join lateral (select pgrecall.any_of(l.variants)) as t(term)
    ) as w
    order by w.holders, w.lexeme;
end
$$;
