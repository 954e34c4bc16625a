-- For each version about to be written, the oldest other memory that its writer can read and that says the same of
-- the same subject: what comes back in the words of a recall is no second evidence for them. Null without one.
create or replace function pgrecall.echoes_of(fresh pgrecall.memories[]) returns table (place bigint, echo_of uuid)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    seen_as text[] := pgrecall.principals();
begin
    return query
    select f.ordinality, (
        select o.id from pgrecall.memories o
        where pgrecall.said(o.content) = pgrecall.said(f.content)
            and o.superseded_at is null and o.archived_at is null and o.id <> f.id
            and o.readers && seen_as
            -- The same words of somebody else, or in another conversation, say something else.
            and coalesce(pgrecall.entity_name(o.entity) = pgrecall.entity_name(f.entity), true)
            and coalesce(o.thread = f.thread, true)
            and coalesce(o.event_at = f.event_at, true)
        order by o.created_at, o.id
        limit 1)
    from unnest(fresh) with ordinality f;
end
$$;
