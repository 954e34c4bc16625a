-- The memories of a scope whose vectors are nearest to a memory's own, and the distances of those that are known to
-- be near by their words; nothing while it has no vector.
create or replace function pgrecall.neighbours_by_meaning(
    head pgrecall.memories, s pgrecall.scope, known uuid[], pool int
) returns setof pgrecall.neighbour
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    with_model text;
    vector text;
begin
    select e.model, coalesce(e.own, e.embedding)::text into with_model, vector
    from pgrecall.embeddings e join pgrecall.embedding_models m on m.model = e.model and m.current
    where e.space = head.space and e.id = head.id and e.version = head.version
    order by e.chunk
    limit 1;
    if vector is null then
        return;
    end if;
    s.visible := pgrecall.visible_rows(s);
    return query
    select v.id, v.version, null::real, v.distance
    from pgrecall.vector_leg(with_model, vector, s, pool) v where v.id <> head.id
    union
    select e.id, e.version, null::real,
        min(e.embedding operator(public.<=>) vector::public.halfvec)::real
    from pgrecall.embeddings e
    where e.space = head.space and e.id = any (known) and e.model = with_model and e.head
    group by e.id, e.version;
end
$$;
