-- Make a version that stands again known to those who may read it, and the older ones to the shares and delegations
-- that know it. Whoever is not the owner puts it into no delegation by erasing what came after.
create or replace function pgrecall.show_again(head pgrecall.memories) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    shown pgrecall.memories := head;
begin
    shown.readers := pgrecall.readers_after(head, head, coalesce(memory.current_agent(), ''));
    update pgrecall.memories m set readers = shown.readers
    where m.space = head.space and m.id = head.id and m.version = head.version;
    update pgrecall.embeddings e set readers = shown.readers
    where e.space = head.space and e.id = head.id and e.version = head.version;
    perform pgrecall.follow_head(head, shown);
end
$$;
