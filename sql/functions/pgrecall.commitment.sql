-- What an event says of a version's content: a hash that can't be guessed once the salt is erased.
create or replace function pgrecall.commitment(m pgrecall.memories) returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select sha256(m.salt || pgrecall.frame(
    m.content, m.title, m.entity, m.tags::text, m.kind, m.visibility, m.key, m.thread, m.source, m.metadata::text))
$$;
