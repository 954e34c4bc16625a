-- The query's words with how many versions hold each, rarest first. Large stores take the counts from
-- ANALYZE's statistics (a word not among the commonest counts half the rarest of those); small ones count, among what
-- the caller may read: a weight must not tell that a word stands in somebody's private memory.
create or replace function pgrecall.query_words(query text, seen_as pgrecall.viewer)
returns setof pgrecall.query_word
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    total real := pgrecall.memory_count();
    rarest real;
begin
    select h.share / 2 into rarest from pgrecall.shares h where h.subject = 'word' order by h.share limit 1;
    if rarest is null then
        select count(*) into total from pgrecall.memories m where pgrecall.readable(m.readers, m.id, seen_as);
    end if;
    return query
    select w.lexeme, w.term, w.holders,
        ln(1 + (greatest(total, w.holders) - w.holders + 0.5::float8) / (w.holders + 0.5::float8))::real
    from (
        select l.lexeme, pgrecall.any_of(l.variants) as term,
            case when rarest is null then (
                select count(*)::real from pgrecall.memories m
                where m.lexemes @@ pgrecall.any_of(l.variants) and pgrecall.readable(m.readers, m.id, seen_as))
            else total * least(rarest * cardinality(l.variants) + coalesce((
                select sum(h.share - rarest)
                from pgrecall.shares h where h.subject = 'word' and h.value = any (l.variants)), 0), 1)::real
            end as holders
        from pgrecall.query_lexemes(query) l
    ) as w
    order by w.holders, w.lexeme;
end
$$;
