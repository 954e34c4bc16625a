-- What resembles each of some memories, as a write answers it: `similar` and `contradicts`, up to k of each, of
-- those that the session sees. Ids that it does not see have no row.
create or replace function memory.resemblances(ids uuid[], k int default 3)
returns table (id uuid, similar_to jsonb, contradicts jsonb)
language plpgsql stable security definer rows 20
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_column
begin
    if k is null or k not between 1 and 100 or cardinality(ids) > 100 then
        raise exception 'k must be between 1 and 100, and so must the number of ids' using errcode = '22023';
    end if;
    return query
    select m.id, coalesce(found.similar_to, '[]'), coalesce(found.contradicts, '[]')
    from pgrecall.memories m
    cross join lateral (
        select jsonb_agg(jsonb_build_object('id', r.id, 'content', r.content, 'why', r.why) order by r.place)
                filter (where r.contradicts and r.place <= k) as contradicts,
            jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                    'id', r.id, 'content', r.content, 'overlap', round(r.overlap::numeric, 3),
                    'distance', round(r.distance::numeric, 4), 'why', r.why)) order by r.place)
                filter (where not r.contradicts and r.place <= k) as similar_to
        from (
            select r.*, row_number() over (partition by r.contradicts order by r.ordinality) as place
            from pgrecall.resemblances(m) with ordinality r) as r) as found
    where m.id = any (ids) and m.superseded_at is null and pgrecall.readable(m.readers, m.id, (select pgrecall.principals()), (select pgrecall.shared_ids()));
end
$$;
grant execute on function memory.resemblances(uuid[], int) to pgrecall_agent, pgrecall_reader;
