-- The locked head of a memory that the session's agent may change; P0002 when it may not even see it.
create or replace function pgrecall.head_to_change(memory_id uuid, who text) returns pgrecall.memories
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.memories := pgrecall.seen_head(memory_id);
begin
    if not pgrecall.may_change(head, who) then
        raise exception 'agent "%" may not change memory %', who, memory_id using errcode = '42501';
    end if;
    return head;
end
$$;
