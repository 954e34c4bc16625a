-- The entities that a query names, each as one more word of it: by an alias any of the entity's names, by the very
-- name that memories have it under those that are of it. It weighs half as much again as a word that is as
-- rare as memories of it are, and twice that where the name is quoted.
create or replace function pgrecall.entity_words(query text, s pgrecall.scope) returns setof pgrecall.query_word
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- What more memories are of hardly tells them apart, and need not be counted to the end.
    enough constant int := 1000;
    aliases constant boolean := exists (select from pgrecall.entity_aliases a where 'space:' || a.space = any (s.principals));
    spoken tsvector;
    quoted text[];
    total real;
begin
    if not aliases and not exists (select from pgrecall.memories m where m.superseded_at is null and m.entity is not null) then
        return;
    end if;
    spoken := case when aliases then pgrecall.words(query, null) end;
    quoted := array(select pgrecall.entity_name(q) from unnest(pgrecall.quoted_phrases(query)) q);
    total := greatest(pgrecall.memory_count(), 1);
    return query
    with aliased as materialized (
        select g.name, g.names, array(select pgrecall.entity_name(n) from unnest(g.names) n) as keys
        from (
            select distinct on (pgrecall.entity_name(a.entity)) a.entity as name, pgrecall.names_of(a.entity, s) as names
            from pgrecall.entity_aliases a
            where 'space:' || a.space = any (s.principals)
                and (s.space is null or a.space = s.space or a.space like '~%')
                and (spoken @@ pgrecall.phrase(a.alias) or spoken @@ pgrecall.phrase(a.entity))
            order by pgrecall.entity_name(a.entity), a.entity
        ) as g
    ), meant as materialized (
        select e.*
        from (
            select a.name, a.names, a.keys from aliased a
            union all
            select n.name, null, array[n.name]
            from (select distinct unnest(pgrecall.names_in(query) || quoted) as name) n
            where not exists (select from aliased a where n.name = any (a.keys))
        ) as e
    ), counted as materialized (
        select e.*, (select count(*)::real from (
            select from pgrecall.memories m
            where pgrecall.entity_name(m.entity) = any (e.keys) and m.superseded_at is null
                and pgrecall.readable(m.readers, m.id, s.principals, s.shared) and (s.space is null or m.space = s.space)
            limit enough) as holding) as holders
        from meant e
    )
    select c.name, case when c.names is null then pgrecall.of_entity(c.name) else pgrecall.any_name(c.names) end,
        greatest(c.holders, 1),
        (ln(1 + (greatest(total, c.holders) - c.holders + 0.5) / (greatest(c.holders, 1) + 0.5))
            * case when c.keys && quoted then 3 else 1.5 end)::real
    from counted c
    where c.holders > 0 or c.names is not null;
end
$$;
