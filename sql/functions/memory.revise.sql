-- Write a new version of a memory, in which what is not named stays as it was; `clear` names what shall be gone.
-- Answers its number, or the number that stands where nothing changes. With `expected_version`, and whenever
-- another writer came in between, 40001 says that the memory has changed.
create or replace function memory.revise(
    id uuid, content text default null, kind text default null, title text default null,
    entity text default null, tags text[] default null, importance real default null,
    confidence real default null, visibility text default null, key text default null,
    pinned boolean default null, thread text default null, source text default null,
    event_at timestamptz default null, valid_from timestamptz default null,
    valid_until timestamptz default null, ttl interval default null, metadata jsonb default null,
    query_embedding memory.query_embedding default null, derived_from uuid[] default null,
    clear text[] default '{}', expected_version int default null
) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    draft pgrecall.draft;
begin
    draft.content := content;
    draft.kind := kind;
    draft.title := title;
    draft.entity := entity;
    draft.tags := tags;
    draft.importance := importance;
    draft.confidence := confidence;
    draft.visibility := visibility;
    draft.key := key;
    draft.pinned := pinned;
    draft.thread := thread;
    draft.source := source;
    draft.event_at := event_at;
    draft.valid_from := valid_from;
    draft.valid_until := valid_until;
    draft.ttl := ttl;
    draft.metadata := metadata;
    draft.query_embedding := query_embedding;
    draft.derived_from := derived_from;
    return (pgrecall.revise_memory(revise.id, draft, coalesce(clear, '{}'), expected_version, who)).version;
end
$$;
grant execute on function memory.revise to pgrecall_agent;
