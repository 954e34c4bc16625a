-- The locked head of a memory that the session's agent sees; P0002 when there is none.
create or replace function pgrecall.seen_head(memory_id uuid) returns pgrecall.memories
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
    return head;
end
$$;
