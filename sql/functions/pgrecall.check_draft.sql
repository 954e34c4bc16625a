-- Refuse a draft that can't be stored, saying which field and what was given (22023).
create or replace function pgrecall.check_draft(draft pgrecall.draft) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    complaint text := case
        when draft.content is null or draft.content !~ '\S' then 'content must not be blank'
        when length(draft.content) > 100000
            then format('content must be at most 100000 characters, not %s', length(draft.content))
        when draft.space !~ '\S' or length(draft.space) > 200 then 'space must be 1 to 200 characters, not blank'
        when draft.kind not in ('episodic', 'semantic', 'procedural', 'resource', 'strategic', 'identity')
            then format('kind must be episodic, semantic, procedural, resource, strategic or identity, not %L', draft.kind)
        when draft.visibility not in ('private', 'shared', 'public')
            then format('visibility must be private, shared or public, not %L', draft.visibility)
        when draft.importance not between 0 and 1
            then format('importance must be between 0 and 1, not %s', draft.importance)
        when draft.confidence not between 0 and 1
            then format('confidence must be between 0 and 1, not %s', draft.confidence)
        when length(draft.title) > 500 then format('title must be at most 500 characters, not %s', length(draft.title))
        when draft.key !~ '\S' or length(draft.key) > 200 then 'key must be 1 to 200 characters, not blank'
        when draft.entity !~ '\S' or length(draft.entity) > 200 then 'entity must be 1 to 200 characters, not blank'
        when draft.thread !~ '\S' or length(draft.thread) > 200 then 'thread must be 1 to 200 characters, not blank'
        when length(draft.source) > 2000 then 'source must be at most 2000 characters'
        when cardinality(draft.tags) > 100 then format('at most 100 tags, not %s', cardinality(draft.tags))
        when array_position(draft.tags, null) is not null then 'a tag must not be null'
        when cardinality(draft.derived_from) > 100 then format('derived_from must hold at most 100 ids, not %s', cardinality(draft.derived_from))
        when array_position(draft.derived_from, null) is not null then 'derived_from must not hold null'
        when draft.ttl <= interval '0' then format('ttl must be positive, not %s', draft.ttl)
        when draft.event_at not between '0001-01-02' and '9999-12-30'
            or draft.valid_from not between '0001-01-02' and '9999-12-30'
            or draft.valid_until not between '0001-01-02' and '9999-12-30'
            then 'times must lie in the years 1 to 9999'
        when draft.valid_until <= draft.valid_from then 'valid_until must be after valid_from'
        when jsonb_typeof(draft.metadata) <> 'object' then 'metadata must be a JSON object'
        when draft.metadata ? 'half_life_days' and draft.metadata -> 'half_life_days' <> 'null' and (
            jsonb_typeof(draft.metadata -> 'half_life_days') <> 'number'
            or draft.metadata -> 'half_life_days' not between '0.01' and '36500')
            then format('metadata''s half_life_days must be a number from 0.01 to 36500, not %s', draft.metadata -> 'half_life_days')
        when draft.metadata ? 'source_type' and (jsonb_typeof(draft.metadata -> 'source_type') <> 'string'
            or draft.metadata ->> 'source_type' !~ '\S' or length(draft.metadata ->> 'source_type') > 50)
            then 'metadata.source_type must be a text of 1 to 50 characters, not blank'
        when draft.metadata ->> 'language' is not null
            and pgrecall.language_named(draft.metadata ->> 'language') is null
            then format('metadata.language must name a language that Postgres stems (english, russian, french, …), or '
                'simple for any other, not %L', draft.metadata ->> 'language')
    end;
begin
    if complaint is not null then
        raise exception '%', complaint using errcode = '22023';
    end if;
end
$$;
