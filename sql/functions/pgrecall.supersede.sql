-- Put the next version in the head's place. The caller holds the lock on the head's row.
create or replace function pgrecall.supersede(
    head pgrecall.memories, next pgrecall.memories, who text, embedding text
) returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    shows boolean := pgrecall.may_show(head, who);
    same_text boolean := (next.title, next.content) is not distinct from (head.title, head.content);
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
    update pgrecall.memories m set superseded_at = next.created_at
    where m.space = head.space and m.id = head.id and m.version = head.version;
    update pgrecall.embeddings e set head = false
    where e.space = head.space and e.id = head.id and e.version = head.version and e.head;
    delete from pgrecall.embedding_queue q
    where q.space = head.space and q.id = head.id and q.version = head.version;
    if not pgrecall.insert_version(next) then
        raise exception 'memory % would repeat another in the same words or with the same key', head.id
            using errcode = '23505', hint = 'Forget one of the two first.';
    end if;
    if next.valid_from is not null then
        perform pgrecall.relink(head.space, head.id);
    end if;
    perform pgrecall.narrow_readers(head, next);
    perform pgrecall.follow_head(head, next);
    perform pgrecall.append_event(
        head.space, who, 'revise', head.id, next.version, '{}', pgrecall.commitment(next));
    if not same_text or not pgrecall.copy_embeddings(head, next) then
        perform pgrecall.embed_version(next, embedding);
    end if;
    if (next.thread, coalesce(next.event_at, next.created_at)) is distinct from (head.thread, head.happened_at) then
        perform pgrecall.mix_neighbours(head);
    end if;
    return (head.space, head.id, next.version, 'refined'::text);
end
$$;
