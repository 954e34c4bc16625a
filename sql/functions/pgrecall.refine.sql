-- A keyed memory said anew: the next version, in which all that the draft does not name stays as it was.
-- A value equal to remember()'s default counts as not named; the head's row is locked by the caller.
create or replace function pgrecall.refine(head pgrecall.memories, draft pgrecall.draft, who text)
returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    next pgrecall.memories := head;
begin
    next.content := draft.content;
    next.kind := coalesce(nullif(draft.kind, 'semantic'), head.kind);
    next.title := coalesce(draft.title, head.title);
    next.entity := coalesce(draft.entity, head.entity);
    next.tags := coalesce(nullif(draft.tags, '{}'), head.tags);
    next.importance := coalesce(nullif(draft.importance, 0.5::real), head.importance);
    next.confidence := coalesce(nullif(draft.confidence, 0.8::real), head.confidence);
    next.visibility := coalesce(draft.visibility, head.visibility);
    next.pinned := coalesce(draft.pinned, head.pinned);
    next.thread := coalesce(draft.thread, head.thread);
    next.source := coalesce(draft.source, head.source);
    next.metadata := head.metadata || coalesce(draft.metadata, '{}');
    next.language := pgrecall.language_named(next.metadata ->> 'language');
    next.event_at := coalesce(draft.event_at, head.event_at);
    next.valid_from := draft.valid_from;
    next.valid_until := draft.valid_until;
    next.expires_at := coalesce(clock_timestamp() + draft.ttl, head.expires_at);
    -- Said again without a change: no new version.
    if (next.content, next.kind, next.title, next.entity, next.tags, next.importance, next.confidence,
        next.visibility, next.pinned, next.thread, next.source, next.metadata, next.event_at, next.expires_at)
        is not distinct from
        (head.content, head.kind, head.title, head.entity, head.tags, head.importance, head.confidence,
        head.visibility, head.pinned, head.thread, head.source, head.metadata, head.event_at, head.expires_at)
        and draft.valid_from is null and draft.valid_until is null
    then
        return (head.space, head.id, head.version, 'repeated'::text);
    end if;
    return pgrecall.supersede(head, next, who, draft.query_embedding);
end
$$;
