-- The head of a memory that the session sees, whatever became of it; P0002 when there is none.
create or replace function pgrecall.head_to_compare(memory_id uuid) returns pgrecall.memories
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    seen_as constant pgrecall.viewer := pgrecall.viewer();
    head pgrecall.memories;
begin
    select * into head from pgrecall.memories m
    where m.id = memory_id and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as);
    if not found then
        raise exception 'no memory %', coalesce(memory_id::text, 'without an id') using errcode = 'P0002';
    end if;
    return head;
end
$$;
