-- The head of a memory that the session sees, whatever became of it; P0002 when there is none.
create or replace function pgrecall.head_to_compare(memory_id uuid) returns pgrecall.memories
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.memories;
begin
    select * into head from pgrecall.memories m
    where m.id = memory_id and m.superseded_at is null and m.readers && pgrecall.principals();
    if not found then
        raise exception 'no memory %', coalesce(memory_id::text, 'without an id') using errcode = 'P0002';
    end if;
    return head;
end
$$;
