-- Whether one version says and is all that another does, so that there is nothing to write down.
create or replace function pgrecall.same_memory(one pgrecall.memories, other pgrecall.memories) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (one.content, one.kind, one.title, one.entity, one.tags, one.importance, one.confidence, one.visibility,
            one.key, one.pinned, one.thread, one.source, one.metadata, one.event_at, one.valid_from, one.valid_until,
            one.expires_at, one.derived_from)
        is not distinct from
        (other.content, other.kind, other.title, other.entity, other.tags, other.importance, other.confidence,
            other.visibility, other.key, other.pinned, other.thread, other.source, other.metadata, other.event_at,
            other.valid_from, other.valid_until, other.expires_at, other.derived_from);
end
$$;
