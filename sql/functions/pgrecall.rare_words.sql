-- The words of a memory with about how many versions hold each, rarest first: from ANALYZE's statistics, or in a
-- small store from a few rows, because counting would read the index once a word. Only which rows are looked at
-- depends on it.
create or replace function pgrecall.rare_words(lexemes tsvector) returns setof pgrecall.query_word
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    sampled constant int := 100;
    total real := pgrecall.memory_count();
    rarest real;
begin
    select min(h.share) / 2 into rarest from pgrecall.shares h where h.subject = 'word';
    return query
    select w.lexeme, w.term, w.holders, 0::real
    from (
        select l.lexeme, l.term, case
            when rarest is not null then total * coalesce(l.share, rarest)
            else total / sampled * (
                select count(*)::real
                from (select m.lexemes from pgrecall.memories m limit sampled) as few
                where few.lexemes @@ l.term)
            end::real as holders
        from (
            select u.lexeme, h.share, pgrecall.any_of(array[u.lexeme]) as term from unnest(lexemes) u
            left join pgrecall.shares h on h.subject = 'word' and h.value = u.lexeme
            -- Numbers tell apart what says the same of them.
            order by u.lexeme ~ '^\d', coalesce(h.share, 0), length(u.lexeme) desc, u.lexeme
            limit 12
        ) as l
    ) as w
    order by w.holders, length(w.lexeme) desc, w.lexeme;
end
$$;
