-- A head with what a draft names put in and what `clear` names taken away; all else stays as it was.
create or replace function pgrecall.revised(head pgrecall.memories, draft pgrecall.draft, clear text[])
returns pgrecall.memories
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    fresh pgrecall.memories := head;
begin
    fresh.content := coalesce(draft.content, head.content);
    fresh.kind := coalesce(draft.kind, head.kind);
    fresh.visibility := coalesce(draft.visibility, head.visibility);
    fresh.importance := coalesce(draft.importance, head.importance);
    fresh.confidence := coalesce(draft.confidence, head.confidence);
    fresh.pinned := coalesce(draft.pinned, head.pinned);
    fresh.title := case when not 'title' = any (clear) then coalesce(draft.title, head.title) end;
    fresh.entity := case when not 'entity' = any (clear) then coalesce(draft.entity, head.entity) end;
    fresh.key := case when not 'key' = any (clear) then coalesce(draft.key, head.key) end;
    fresh.thread := case when not 'thread' = any (clear) then coalesce(draft.thread, head.thread) end;
    fresh.source := case when not 'source' = any (clear) then coalesce(draft.source, head.source) end;
    fresh.event_at := case when not 'event_at' = any (clear) then coalesce(draft.event_at, head.event_at) end;
    fresh.valid_from := case when not 'valid_from' = any (clear) then coalesce(draft.valid_from, head.valid_from) end;
    fresh.valid_until := case when not 'valid_until' = any (clear) then coalesce(draft.valid_until, head.valid_until) end;
    fresh.expires_at := case when not 'ttl' = any (clear) then coalesce(clock_timestamp() + draft.ttl, head.expires_at) end;
    fresh.derived_from := case when not 'derived_from' = any (clear)
        then coalesce(draft.derived_from, head.derived_from) end;
    fresh.tags := coalesce(draft.tags, case when 'tags' = any (clear) then '{}' else head.tags end);
    fresh.metadata := case when draft.metadata is null then head.metadata
        else pgrecall.merge_patch(head.metadata, draft.metadata) end;
    if 'metadata' = any (clear) then
        fresh.metadata := '{}';
    end if;
    fresh.language := pgrecall.language_named(fresh.metadata ->> 'language');
    return fresh;
end
$$;
