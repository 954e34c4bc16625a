-- Insert versions; answers those that went in. One that a head with the same words or the same key stands
-- in the way of is left out.
create or replace function pgrecall.insert_versions(fresh pgrecall.memories[]) returns setof pgrecall.memories
language plpgsql rows 1
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into pgrecall.languages (language)
    select distinct f.language from unnest(fresh) f
    where f.language is not null
        and pgrecall.text_configuration(f.language) <> pgrecall.text_configuration(null)
        and not exists (select from pgrecall.languages l where l.language = f.language)
    on conflict do nothing;
    return query
    insert into pgrecall.memories (
        space, id, version, agent, kind, visibility, readers, title, content, entity, tags,
        importance, confidence, pinned, key, thread, source, metadata, language,
        event_at, valid_from, valid_until, expires_at, created_at, identity_hash, salt, session,
        written_by, derived_from, echo_of)
    select f.space, f.id, f.version, f.agent, f.kind, f.visibility, f.readers, f.title,
        pgrecall.stored_content(f.content), f.entity, f.tags,
        f.importance, f.confidence, f.pinned, f.key, f.thread, f.source, f.metadata, f.language,
        f.event_at, f.valid_from, f.valid_until, f.expires_at, f.created_at, f.identity_hash, f.salt,
        f.session, f.written_by, f.derived_from, coalesce(f.echo_of, e.echo_of)
    from unnest(fresh) with ordinality f join pgrecall.echoes_of(fresh) e on e.place = f.ordinality
    on conflict do nothing
    returning *;
end
$$;
