-- Let a version out of quarantine, as a reviewer: it becomes the memory's head and is there for its readers from
-- now on. Answers its number. 40001 when the memory was changed or forgotten since it was written.
create or replace function memory.release(id uuid, version int default null) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    held pgrecall.quarantine := pgrecall.held_for_review(release.id, release.version);
    m pgrecall.memories := jsonb_populate_record(null::pgrecall.memories, held.memory);
    head pgrecall.memories;
begin
    -- It begins to be known now; it happened when it was written.
    m.event_at := coalesce(m.event_at, held.at);
    m.created_at := clock_timestamp();
    delete from pgrecall.quarantine q where q.space = held.space and q.id = held.id and q.version = held.version;
    select * into head from pgrecall.memories h
    where h.space = held.space and h.id = held.id and h.superseded_at is null
    for update;
    if found and head.version < held.version and head.archived_at is null then
        -- Shares and delegations may have changed since it was written.
        m.readers := pgrecall.readers_after(head, m, held.agent);
        perform pgrecall.place_version(head, m, who, 'release', null),
            pgrecall.feed_baseline(m.space, held.agent, array[m]);
        return m.version;
    elsif found or held.version > 1 then
        raise exception 'memory % was changed or forgotten since version % was written', held.id, held.version
            using errcode = '40001', hint = 'Reject it; remember it anew if it is still true.';
    end if;
    m.readers := pgrecall.readers_now(m);
    if not pgrecall.insert_version(m) then
        raise exception 'another memory stands in the place of %, by its words or its key', held.id
            using errcode = '23505', hint = 'Reject it, or forget the other first.';
    end if;
    perform pgrecall.append_event(m.space, who, 'release', m.id, m.version, '{}', pgrecall.commitment(m));
    perform pgrecall.feed_baseline(m.space, held.agent, array[m]);
    perform pgrecall.embed_version(m, null);
    return m.version;
end
$$;
grant execute on function memory.release(uuid, int) to pgrecall_agent;
