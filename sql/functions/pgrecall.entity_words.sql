-- The entities that a query names, by whatever name, each as one more word of it: any of the entity's names.
-- It weighs as its rarest name does, and twice that where the name is quoted.
create or replace function pgrecall.entity_words(query text, s pgrecall.scope) returns setof pgrecall.query_word
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    spoken tsvector := pgrecall.words(query, null);
    quoted text[] := array(select pgrecall.entity_name(q) from unnest(pgrecall.quoted_phrases(query)) q);
    total real := greatest(pgrecall.memory_count(), 1);
begin
    if not exists (select from pgrecall.entity_aliases a where 'space:' || a.space = any (s.principals)) then
        return;
    end if;
    return query
    select e.name, e.term, e.holders,
        (ln(1 + (greatest(total, e.holders) - e.holders + 0.5) / (e.holders + 0.5)) * case when e.quoted then 2 else 1 end)::real
    from (
        select g.name, pgrecall.any_name(g.names) as term,
            array(select pgrecall.entity_name(n) from unnest(g.names) n) && quoted as quoted,
            (select greatest(count(*), 1)::real from (
                select from pgrecall.memories m
                where pgrecall.entity_name(m.entity) = any (array(select pgrecall.entity_name(n) from unnest(g.names) n))
                    and m.superseded_at is null
                limit 2000) as holding) as holders
        from (
            select distinct on (pgrecall.entity_name(a.entity)) a.entity as name, pgrecall.names_of(a.entity, s) as names
            from pgrecall.entity_aliases a
            where 'space:' || a.space = any (s.principals)
                and (s.space is null or a.space = s.space or a.space like '~%')
                and (spoken @@ pgrecall.phrase(a.alias) or spoken @@ pgrecall.phrase(a.entity))
            order by pgrecall.entity_name(a.entity), a.entity
        ) as g
    ) as e;
end
$$;
