-- Make a version the head in the place of another, whose row the caller has locked, and log it as the action.
create or replace function pgrecall.place_version(
    head pgrecall.memories, next pgrecall.memories, who text, action text, embedding text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    same_text boolean := (next.title, next.content) is not distinct from (head.title, head.content);
begin
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
        head.space, who, action, head.id, next.version, '{}', pgrecall.commitment(next));
    if not same_text or not pgrecall.copy_embeddings(head, next) then
        perform pgrecall.embed_version(next, embedding);
    end if;
    if (next.thread, coalesce(next.event_at, next.created_at)) is distinct from (head.thread, head.happened_at) then
        perform pgrecall.mix_neighbours(head);
    end if;
end
$$;
