-- Remember a text; a key that stands already is refined. Answers the memory's id.
create or replace function memory.remember(
    content text, space text default null, kind text default 'semantic', title text default null,
    entity text default null, tags text[] default '{}', importance real default 0.5,
    confidence real default 0.8, visibility text default null, key text default null,
    pinned boolean default null, thread text default null, source text default null,
    event_at timestamptz default null, valid_from timestamptz default null,
    valid_until timestamptz default null, ttl interval default null, metadata jsonb default '{}',
    query_embedding memory.query_embedding default null, derived_from uuid[] default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
declare
    draft pgrecall.draft := (
        content, space, kind, title, entity, tags, importance, confidence, visibility, key, pinned,
        thread, source, event_at, valid_from, valid_until, ttl, metadata, query_embedding, derived_from);
begin
    return (pgrecall.write_memory(draft)).id;
end
$$;
grant execute on function memory.remember to pgrecall_agent;
