-- The locked head of a memory that the session's agent sees; P0002 when there is none.
create or replace function pgrecall.seen_head(memory_id uuid) returns pgrecall.memories
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.memories;
    seen_as pgrecall.viewer;
begin
    loop
        seen_as := pgrecall.viewer();
        select * into head from pgrecall.memories m
        where m.id = memory_id and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as)
        for update;
        exit when found;
        seen_as := pgrecall.viewer();
        -- Whom we waited for may have put another version in the head's place.
        if not exists (
            select from pgrecall.memories m
            where m.id = memory_id and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as))
        then
            raise exception 'no memory %', memory_id using errcode = 'P0002';
        end if;
    end loop;
    return head;
end
$$;
