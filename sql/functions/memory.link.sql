-- Link a memory that one may change to another of its space that one sees; said again it changes nothing.
create or replace function memory.link(source uuid, target uuid, relation text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    head pgrecall.memories;
    other_space text;
    seen_as constant pgrecall.viewer := pgrecall.viewer();
begin
    if relation is null or relation !~ '\S' or length(relation) > 200 then
        raise exception 'relation must be 1 to 200 characters, not blank' using errcode = '22023';
    elsif source = target then
        raise exception 'memory % can''t be linked to itself', source using errcode = '22023';
    end if;
    -- Both ends, in the order of their ids: two links between the same memories must not lock each other out.
    perform from pgrecall.memories m
    where m.id in (source, target) and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as)
    order by m.id
    for update;
    head := pgrecall.head_to_change(source, who);
    select m.space into other_space from pgrecall.memories m
    where m.id = target and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as);
    if not found then
        raise exception 'no memory %', target using errcode = 'P0002';
    elsif other_space <> head.space then
        raise exception 'memories % and % are in different spaces', source, target
            using errcode = '22023', detail = format('The spaces are %L and %L.', head.space, other_space);
    end if;
    insert into pgrecall.links values (head.space, source, target, relation, who) on conflict do nothing;
    if found then
        -- The relation is the agent's own words: the log commits to it, so that an erasure leaves none.
        perform pgrecall.append_event(
            head.space, who, 'link', source, head.version, jsonb_build_object('target', target),
            sha256(head.salt || pgrecall.frame(target::text, relation)));
    end if;
end
$$;
grant execute on function memory.link(uuid, uuid, text) to pgrecall_agent;
