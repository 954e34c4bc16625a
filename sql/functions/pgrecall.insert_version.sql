-- Insert one version; false when a head with the same words or the same key stands already.
create or replace function pgrecall.insert_version(fresh pgrecall.memories) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if fresh.language is not null and pgrecall.text_configuration(fresh.language) <> pgrecall.text_configuration(null)
        and not exists (select from pgrecall.languages l where l.language = fresh.language)
    then
        insert into pgrecall.languages (language) values (fresh.language) on conflict do nothing;
    end if;
    insert into pgrecall.memories (
        space, id, version, agent, kind, visibility, readers, title, content, entity, tags,
        importance, confidence, pinned, key, thread, source, metadata, language,
        event_at, valid_from, valid_until, expires_at, created_at, identity_hash, salt)
    values (
        fresh.space, fresh.id, fresh.version, fresh.agent, fresh.kind, fresh.visibility, fresh.readers,
        fresh.title, fresh.content, fresh.entity, fresh.tags, fresh.importance, fresh.confidence,
        fresh.pinned, fresh.key, fresh.thread, fresh.source, fresh.metadata, fresh.language,
        fresh.event_at, fresh.valid_from, fresh.valid_until, fresh.expires_at, fresh.created_at,
        fresh.identity_hash, fresh.salt)
    on conflict do nothing;
    return found;
end
$$;
