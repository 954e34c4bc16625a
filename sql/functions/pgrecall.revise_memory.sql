-- Write the next version of a memory: 'refined', or 'repeated' where nothing changes. 40001 when the head is not
-- the version that the caller expects, or stopped being the one it found while it waited for another writer.
create or replace function pgrecall.revise_memory(
    memory_id uuid, draft pgrecall.draft, clear text[], expected_version int, who text
) returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    seen_as constant pgrecall.viewer := pgrecall.viewer();
    found_version int;
    head pgrecall.memories;
    next pgrecall.memories;
begin
    select m.version into found_version from pgrecall.memories m
    where m.id = memory_id and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as);
    head := pgrecall.head_to_change(memory_id, who);
    if head.version <> coalesce(expected_version, found_version) then
        raise exception 'memory % is at version % now, not %', memory_id, head.version,
            coalesce(expected_version, found_version)
            using errcode = '40001', hint = 'Read it again, and revise what it says now.';
    end if;
    perform pgrecall.check_revision(head, draft, clear);
    next := pgrecall.revised(head, draft, clear);
    draft.content := next.content;
    draft.valid_from := next.valid_from;
    draft.valid_until := next.valid_until;
    draft.metadata := next.metadata;
    perform pgrecall.check_draft(draft);
    if pgrecall.same_memory(head, next) then
        return (head.space, head.id, head.version, 'repeated'::text);
    end if;
    -- What came along was made of the content alone; with a title, the worker embeds both.
    return pgrecall.supersede(head, next, who, case when next.title is null then draft.query_embedding end);
end
$$;
