-- A keyed memory said anew: the next version, in which all that the draft does not name stays as it was.
-- A value equal to remember()'s default counts as not named; when it holds is said anew each time. The
-- head's row is locked by the caller.
create or replace function pgrecall.refine(head pgrecall.memories, draft pgrecall.draft, who text)
returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    named pgrecall.draft := draft;
    next pgrecall.memories;
begin
    named.kind := nullif(draft.kind, 'semantic');
    named.tags := nullif(draft.tags, '{}');
    named.importance := nullif(draft.importance, 0.5::real);
    named.confidence := nullif(draft.confidence, 0.8::real);
    named.metadata := null;
    next := pgrecall.revised(head, named, '{}');
    next.metadata := head.metadata || coalesce(draft.metadata, '{}');
    next.language := pgrecall.language_named(next.metadata ->> 'language');
    -- Said again without a change: no new version.
    if draft.valid_from is null and draft.valid_until is null and pgrecall.same_memory(head, next) then
        return (head.space, head.id, head.version, 'repeated'::text);
    end if;
    next.valid_from := draft.valid_from;
    next.valid_until := draft.valid_until;
    return pgrecall.supersede(head, next, who, draft.query_embedding);
end
$$;
