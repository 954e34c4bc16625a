-- Put one new memory in the place of several of one space: the text is the caller's, the tags are all of theirs, the
-- importance the highest, the confidence the lowest. They are archived, linked to it as 'consolidated into', and named
-- in its derived_from; restoring them undoes it. Answers the new memory's id.
create or replace function memory.consolidate(
    ids uuid[], content text, title text default null, kind text default 'semantic', entity text default null,
    key text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    heads pgrecall.memories[] := pgrecall.heads_to_settle(ids, who);
    made uuid;
begin
    if exists (select from unnest(heads) h where h.visibility = 'private' and h.agent <> who) then
        raise exception 'another agent''s private memories can''t be consolidated' using errcode = '42501';
    elsif exists (select from unnest(heads) h where h.visibility <> heads[1].visibility) then
        raise exception 'memories that different readers see can''t be consolidated into one' using errcode = '22023',
            hint = 'Consolidate the private, the shared and the public ones apart.';
    end if;
    made := memory.remember(
        content, space => heads[1].space, kind => coalesce(kind, 'semantic'), title => title,
        entity => coalesce(entity, (
            select min(h.entity) from unnest(heads) h
            having count(distinct pgrecall.entity_name(h.entity)) = 1 and count(h.entity) = count(*))),
        tags => array(select distinct t from unnest(heads) h, unnest(h.tags) t order by t limit 100),
        importance => (select max(h.importance) from unnest(heads) h),
        confidence => (select min(h.confidence) from unnest(heads) h),
        visibility => heads[1].visibility, key => key,
        derived_from => array(select h.id from unnest(heads) h order by h.id));
    perform pgrecall.put_aside(h, made, 'consolidated into') from unnest(heads) h where h.id <> made;
    return made;
end
$$;
grant execute on function memory.consolidate to pgrecall_agent;
