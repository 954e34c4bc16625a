-- Say anew all that comes from one source, an array of objects of remember()'s fields: what its records say
-- still stays, what they say differently under the same key or title becomes a new version, what is new is
-- remembered, and what they no longer say is archived. Only one's own memories of that source in that space.
-- Answers a row for each record, in order, and then one, without a number, for each that was archived.
create or replace function memory.replace_source(source text, memories jsonb, space text default null)
returns table (number int, id uuid, version int, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    target text := coalesce(space, '~' || who);
    drafts pgrecall.draft[];
    matched uuid[];
    done pgrecall.written;
    kept uuid[] := '{}';
begin
    if source !~ '\S' or source is null then
        raise exception 'source must not be blank' using errcode = '22023';
    end if;
    perform pgrecall.enter_space(target, who);
    drafts := pgrecall.drafts_of(memories, jsonb_build_object('source', source, 'space', target));
    perform pgrecall.check_draft(d) from unnest(drafts) d;
    -- Two imports of one source come one after the other, by the row that stands for the agent in the space.
    perform from pgrecall.members b where b.space = target and b.agent = who for no key update;
    matched := pgrecall.match_source(source, target, who, drafts);
    for place in 1..cardinality(drafts) loop
        done := pgrecall.say_anew(matched[place], drafts[place], who);
        number := place;
        id := done.id;
        version := done.version;
        outcome := done.outcome;
        kept := kept || id;
        return next;
    end loop;
    number := null;
    outcome := 'archived';
    for id, version in
        select m.id, m.version from pgrecall.memories m
        where m.space = target and m.source = source and m.agent = who and m.superseded_at is null
            and m.archived_at is null and m.id <> all (kept)
        order by m.created_at, m.id
    loop
        perform memory.forget(id, 'archive');
        return next;
    end loop;
end
$$;
grant execute on function memory.replace_source(text, jsonb, text) to pgrecall_agent;
