-- Put the next version in the head's place, unless what it newly says has to wait for a reviewer: then the head
-- stays. The caller holds the lock on the head's row.
create or replace function pgrecall.supersede(
    head pgrecall.memories, next pgrecall.memories, who text, embedding text
) returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    shows boolean := pgrecall.may_show(head, who);
    same_text boolean := (next.title, next.content) is not distinct from (head.title, head.content);
    why pgrecall.suspicion;
begin
    next.version := pgrecall.next_version(head.space, head.id);
    -- A clock that jumped back must not let a version end before it began.
    next.created_at := greatest(clock_timestamp(), head.created_at);
    next.superseded_at := null;
    next.replaced_from := null;
    next.session := pgrecall.open_session(who);
    if (next.visibility, next.key) is distinct from (head.visibility, head.key) and not shows then
        raise exception 'agent "%" may change neither who sees memory % nor its key', who, head.id using errcode = '42501';
    -- Among what the owner keeps to himself its words and its key may stand already, which is not for others to find out.
    elsif next.visibility = 'private' and head.visibility <> 'private' and who <> head.agent then
        raise exception 'only its owner may make memory % private', head.id using errcode = '42501';
    end if;
    next.readers := pgrecall.readers_after(head, next, who);
    next.written_by := nullif(who, next.agent);
    next.echo_of := case when same_text then head.echo_of end;
    next.identity_hash := pgrecall.identity_of(next.content, next.key, next.entity, next.thread, next.event_at);
    next.salt := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    -- A refusal would tell who was let at this one memory that the owner has another in these words.
    if not shows and next.identity_hash <> head.identity_hash then
        next.identity_hash := sha256(next.salt || next.identity_hash);
    end if;
    if pgrecall.written_text(next) <> pgrecall.written_text(head) then
        why := pgrecall.suspicion_of(next, who);
        if why.score is not null then
            return pgrecall.hold_version(next, who, why);
        end if;
    end if;
    perform pgrecall.place_version(head, next, who, 'revise', embedding);
    perform pgrecall.feed_baseline(next.space, who, array[next]);
    return (head.space, head.id, next.version, 'refined'::text);
end
$$;
