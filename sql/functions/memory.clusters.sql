-- Groups of memories that could be consolidated: unimportant ones of one space that share much of their rarer words or
-- are near in meaning, which the session's agent may change. Each memory is in one group at most; of a large space the
-- oldest thousand are compared. The largest group comes first.
create or replace function memory.clusters(
    space text, max_importance real default 0.5, smallest int default 3, max_clusters int default 20
) returns table (cluster int, ids uuid[], contents text[], entity text, visibility text, shared_words text[])
language plpgsql stable security definer rows 20
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_column
declare
    pairs pgrecall.likeness[];
    taken uuid[] := '{}';
    members uuid[];
begin
    if clusters.space is null or max_importance is null or coalesce(smallest not between 2 and 100, true)
        or coalesce(max_clusters not between 1 and 100, true)
    then
        raise exception 'name a space; smallest must be 2 to 100, max_clusters 1 to 100' using errcode = '22023';
    end if;
    pairs := array(select p from pgrecall.alike_pairs(clusters.space, max_importance) p);
    cluster := 0;
    while cluster < max_clusters loop
        -- The memory with the most neighbours left, and those: no chains, whose ends have nothing in common.
        select array_agg(p.other order by p.alike desc, p.other) into members
        from unnest(pairs) p
        where p.id <> all (taken) and p.other <> all (taken)
        group by p.id
        order by count(*) desc, p.id
        limit 1;
        exit when coalesce(cardinality(members), 0) < smallest;
        ids := members[1:20];
        taken := taken || ids;
        cluster := cluster + 1;
        select array_agg(pgrecall.told_content(m.content) order by i.place), min(m.visibility),
            case when count(distinct pgrecall.entity_name(m.entity)) = 1 and count(m.entity) = count(*) then min(m.entity) end
        into contents, visibility, entity
        from unnest(ids) with ordinality as i(id, place)
        join pgrecall.memories m on m.id = i.id and m.superseded_at is null;
        shared_words := array(
            select w.lexeme from unnest(ids) i(id)
            join pgrecall.memories m on m.id = i.id and m.superseded_at is null
            cross join lateral unnest(m.lexemes) w
            group by w.lexeme having count(*) > cardinality(ids) / 2 order by count(*) desc, w.lexeme limit 10);
        return next;
    end loop;
end
$$;
grant execute on function memory.clusters(text, real, int, int) to pgrecall_agent;
