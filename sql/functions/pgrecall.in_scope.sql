-- The one predicate of every recall leg: may the caller read this version, and do the filters take it?
-- Inlined by the planner, and folded to what was asked for, because plans are made for each call's values:
-- that is why it has no search_path of its own and names everything in full.
create or replace function pgrecall.in_scope(m pgrecall.memories, s pgrecall.scope) returns boolean
language sql stable
as $$
select pgrecall.readable(m.readers, m.id, s.principals, s.shared)
    and (s.space is null or m.space = s.space)
    and (s.kinds is null or m.kind = any (s.kinds))
    and (s.entities is null or pgrecall.entity_name(m.entity) = any (s.entities))
    and (s.tags is null or m.tags operator(pg_catalog.@>) s.tags)
    and (s.since is null or m.happened_at >= s.since)
    and (s.until is null or m.happened_at < s.until)
    and (s.min_importance <= 0 or m.importance >= s.min_importance)
    and (s.min_confidence <= 0 or m.confidence >= s.min_confidence)
    and (s.archived or m.archived_at is null)
    and (m.expires_at is null or m.expires_at > pg_catalog.now())
    and case
        when s.as_of is not null then
            coalesce(m.valid_from, m.created_at) <= s.as_of
            and s.as_of < least(m.valid_until, coalesce(m.replaced_from, m.superseded_at), 'infinity')
        when s.superseded then true
        else m.superseded_at is null and (m.valid_until is null or m.valid_until > pg_catalog.now())
    end
$$;
