-- The first version that a draft describes, with the defaults of what it does not name.
create or replace function pgrecall.drafted(draft pgrecall.draft, who text, target text, seen text)
returns pgrecall.memories
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    fresh pgrecall.memories;
begin
    fresh.space := target;
    fresh.id := pgrecall.new_id();
    fresh.version := 1;
    fresh.agent := who;
    fresh.kind := coalesce(draft.kind, 'semantic');
    fresh.visibility := seen;
    fresh.readers := pgrecall.readers_of(who, target, seen);
    fresh.title := draft.title;
    fresh.content := draft.content;
    fresh.entity := draft.entity;
    fresh.tags := coalesce(draft.tags, '{}');
    fresh.importance := coalesce(draft.importance, 0.5);
    fresh.confidence := coalesce(draft.confidence, 0.8);
    fresh.pinned := coalesce(draft.pinned, false);
    fresh.key := draft.key;
    fresh.thread := draft.thread;
    fresh.source := draft.source;
    fresh.metadata := coalesce(draft.metadata, '{}');
    if fresh.metadata ? 'language' then
        fresh.language := pgrecall.language_named(fresh.metadata ->> 'language');
    end if;
    fresh.event_at := draft.event_at;
    fresh.valid_from := draft.valid_from;
    fresh.valid_until := draft.valid_until;
    fresh.created_at := clock_timestamp();
    fresh.expires_at := fresh.created_at + draft.ttl;
    fresh.identity_hash := pgrecall.identity_of(
        fresh.content, fresh.key, fresh.entity, fresh.thread, fresh.event_at);
    fresh.salt := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    fresh.derived_from := draft.derived_from;
    fresh.session := pgrecall.open_session(who);
    return fresh;
end
$$;
