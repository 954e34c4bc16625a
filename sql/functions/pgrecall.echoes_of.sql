-- For each version about to be written, the oldest other memory that its writer can read and that says the same of
-- the same subject: what comes back in the words of a recall is no second evidence for them. Null without one.
-- Found by the words alone, or Postgres would rather read all that the writer may; of words that very many have
-- said, such as "thanks", only some are looked at.
create or replace function pgrecall.echoes_of(fresh pgrecall.memories[]) returns table (place bigint, echo_of uuid)
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- Planned anew for every array it would take ten times as long.
set plan_cache_mode = force_generic_plan
-- A plan that was made while the store was empty would go on reading all of it as it fills.
set enable_seqscan = off
as $$
declare
    enough constant int := 100;
    seen_as pgrecall.viewer := pgrecall.viewer();
begin
    return query
    select f.ordinality, (
        with same as materialized (
            select o.id, o.entity, o.thread, o.event_at, o.readers, o.archived_at, o.created_at
            from pgrecall.memories o
            where pgrecall.said(o.content) = f.words and o.superseded_at is null
            limit enough
        )
        select s.id from same s
        where s.id <> f.id and s.archived_at is null and pgrecall.readable(s.readers, s.id, seen_as)
            -- The same words of somebody else, or in another conversation, say something else.
            and coalesce(pgrecall.entity_name(s.entity) = pgrecall.entity_name(f.entity), true)
            and coalesce(s.thread = f.thread, true)
            and coalesce(s.event_at = f.event_at, true)
        order by s.created_at, s.id
        limit 1)
    from (
        select u.ordinality, u.id, u.entity, u.thread, u.event_at, pgrecall.said(u.content) as words
        from unnest(fresh) with ordinality u
        offset 0 -- the words once, not for each row that is compared
    ) as f;
end
$$;
