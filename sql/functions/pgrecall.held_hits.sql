-- The versions in quarantine that a reviewer's recall finds, by words or by the literal text: they have no vectors.
-- Read whole, because few wait at a time and reviewers ask seldom.
create or replace function pgrecall.held_hits(query text, mode text, s pgrecall.scope, rrf_k int, pool int)
returns setof memory.recalled
language plpgsql stable rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
    asked tsquery := (
        select string_agg(quote_literal(w.lexeme), ' | ')::tsquery from unnest(pgrecall.words(query, null)) w);
    reviews_all boolean := pgrecall.is_admin();
    spaces text[] := pgrecall.member_spaces('admin');
begin
    s.principals := array['*'];
    s.archived := true;
    return query
    with held as (
        select m.*, m as whole
        from pgrecall.quarantine q
        cross join lateral jsonb_populate_record(null::pgrecall.memories, q.memory || jsonb_build_object(
            'readers', array['*'],
            'happened_at', coalesce(q.memory -> 'event_at', q.memory -> 'created_at'))) as m
        where reviews_all or q.space = any (spaces)
    ), hits as (
        select h.*, case when mode = 'exact' then 1
            else ts_rank(pgrecall.lexemes(h.title, h.entity, h.content, h.language), asked) end::real as strength
        from held h
        where pgrecall.in_scope(h.whole, s) and mode <> 'vector' and case when mode = 'exact'
            then strpos(lower(h.content), lower(query)) > 0 or strpos(lower(h.title), lower(query)) > 0
            else pgrecall.lexemes(h.title, h.entity, h.content, h.language) @@ asked end
    ), placed as (
        select h.*, row_number() over (order by h.strength desc, h.happened_at desc, h.id, h.version)::int as place,
            h.strength / max(h.strength) over () as closeness
        from hits h
    )
    select p.place, pgrecall.fused_score(p.place, p.closeness::real, null, 1, coalesce(rrf_k, 5), null), p.id, p.version,
        p.space, p.agent, p.kind, p.title, p.content, p.entity, p.tags, p.importance, p.confidence, p.pinned, p.event_at,
        p.created_at, p.place, null::int, null::int, null::real, null::text
    from placed p
    order by p.place
    limit pool;
end
$$;
