-- See that the agent may erase a memory, also one that it deleted and no longer sees: P0002 where there is none or
-- it neither sees it nor may erase it, 42501 where it only sees it.
create or replace function pgrecall.head_to_erase(memory_id uuid, who text) returns pgrecall.memories
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    seen_as constant pgrecall.viewer := pgrecall.viewer();
    head pgrecall.memories;
    permitted boolean;
begin
    select * into head from pgrecall.memories m where m.id = memory_id and m.superseded_at is null;
    permitted := head.id is not null and pgrecall.may_erase(head, who);
    if head.id is null or not permitted and pgrecall.readable(head.readers, head.id, seen_as) is not true then
        raise exception 'no memory %', memory_id using errcode = 'P0002';
    elsif not permitted then
        raise exception 'agent "%" may not erase memory %', who, memory_id
            using errcode = '42501', hint = 'Its owner may, and an admin of its space unless it is private.';
    end if;
    return head;
end
$$;
