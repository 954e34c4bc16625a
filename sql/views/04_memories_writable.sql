-- INSERT into the view memories remembers, DELETE archives: what a SQL client does by itself is kept and logged.
create or replace function pgrecall.insert_memory() returns trigger
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
    new.id := memory.remember(
        new.content, new.space, coalesce(new.kind, 'semantic'), new.title, new.entity, coalesce(new.tags, '{}'),
        coalesce(new.importance, 0.5::real), coalesce(new.confidence, 0.8::real), new.visibility, new.key, new.pinned,
        new.thread, new.source, new.event_at, new.valid_from, new.valid_until, new.expires_at - now(),
        coalesce(new.metadata, '{}'));
    return new;
end
$$;
create or replace function pgrecall.archive_memory() returns trigger
language plpgsql security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
    perform memory.forget(old.id, 'archive');
    return old;
end
$$;
create or replace trigger remember instead of insert on memory.memories
    for each row execute function pgrecall.insert_memory();
create or replace trigger archive instead of delete on memory.memories
    for each row execute function pgrecall.archive_memory();
