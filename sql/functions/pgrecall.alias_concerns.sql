-- What is wrong with the aliases of a space that the session belongs to, null for all of them: what clashes means two
-- entities at once, and what leads nowhere names an entity that no memory which the session sees speaks of, by any of
-- its names. The advice names some.
create or replace function pgrecall.alias_concerns(in_space text, seen_as pgrecall.viewer)
returns table (concern text, aliases bigint, examples uuid[], advice text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
    return query
    with known as materialized (
        select a.space, a.name, a.alias, a.entity, pgrecall.entity_name(a.entity) as of
        from pgrecall.entity_aliases a
        where 'space:' || a.space = any (seen_as.principals)
            -- Of a space's own the session's count there too; see names_of().
            and (in_space is null or a.space = in_space or a.space like '~%')
    ), clash as (
        select k.alias, array(
                select m.id from pgrecall.memories m
                where pgrecall.entity_name(m.entity) = k.name and m.superseded_at is null and m.archived_at is null
                    and pgrecall.readable(m.readers, m.id, seen_as) and (in_space is null or m.space = in_space)
                order by m.id limit 5) as examples
        from known k
        where (in_space is null or k.space = in_space) and exists (
            select from known o
            where (o.space = k.space or o.space like '~%' or k.space like '~%')
                and (o.name = k.name and o.of <> k.of or o.name = k.of))
    ), nowhere as (
        select k.alias from known k
        where (in_space is null or k.space = in_space) and not exists (
                select from pgrecall.memories m
                where pgrecall.entity_name(m.entity) = any (array(
                        select o.of from known o where o.of = k.of union select o.name from known o where o.of = k.of))
                    and m.superseded_at is null and m.archived_at is null and pgrecall.readable(m.readers, m.id, seen_as)
                    and (m.space = k.space or k.space like '~%'))
            and not exists (
                select from pgrecall.memories m
                where m.lexemes @@ pgrecall.any_name(array[k.alias, k.entity])
                    and m.superseded_at is null and m.archived_at is null and pgrecall.readable(m.readers, m.id, seen_as)
                    and (m.space = k.space or k.space like '~%'))
    )
    select 'aliases that clash', count(*), array(
            select distinct e from clash c cross join lateral unnest(c.examples) e order by e limit 5),
        pgrecall.advice_on('aliases that clash') || ': '
            || array_to_string((array_agg(distinct quote_literal(c.alias)))[1:5], ', ')
    from clash c having count(*) > 0
    union all
    select 'aliases that lead nowhere', count(*), '{}',
        pgrecall.advice_on('aliases that lead nowhere') || ': '
            || array_to_string((array_agg(distinct quote_literal(n.alias)))[1:5], ', ')
    from nowhere n having count(*) > 0;
end
$$;
