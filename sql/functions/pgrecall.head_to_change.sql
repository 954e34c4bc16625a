-- The locked head of a memory that the session's agent may change; P0002 when it may not even see it.
create or replace function pgrecall.head_to_change(memory_id uuid, who text) returns pgrecall.memories
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.memories;
begin
    loop
        select * into head from pgrecall.memories m
        where m.id = memory_id and m.superseded_at is null and m.readers && pgrecall.principals()
        for update;
        exit when found;
        -- Whom we waited for may have put another version in the head's place.
        if not exists (
            select from pgrecall.memories m
            where m.id = memory_id and m.superseded_at is null and m.readers && pgrecall.principals())
        then
            raise exception 'no memory %', memory_id using errcode = 'P0002';
        end if;
    end loop;
    if not pgrecall.may_change(head, who) then
        raise exception 'agent "%" may not change memory %', who, memory_id using errcode = '42501';
    end if;
    return head;
end
$$;
