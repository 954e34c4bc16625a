-- Archive a memory for another that says what it said, and link it to that one. Restoring it undoes this.
create or replace function pgrecall.put_aside(head pgrecall.memories, kept uuid, relation text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform memory.link(head.id, kept, relation);
    return memory.forget(head.id, 'archive');
end
$$;
