-- Make the older versions known to the shares and delegations that know the new head, and to no other; and end
-- the shares that were granted by a delegation which does not know it any more.
create or replace function pgrecall.follow_head(head pgrecall.memories, next pgrecall.memories) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    lost text[] := array(
        select r from unnest(head.readers) r where r ~ '^(share|delegation):' and r <> all (next.readers));
    gained text[] := array(
        select r from unnest(next.readers) r where r ~ '^(share|delegation):' and r <> all (head.readers));
begin
    if head.readers = next.readers then
        return;
    end if;
    if lost <> '{}' or gained <> '{}' then
        perform pgrecall.change_tokens(head, gained, lost);
        delete from pgrecall.memory_shares s using pgrecall.delegations d
        where s.space = head.space and s.id = head.id and d.id = s.delegation and d.token = any (lost);
    end if;
    -- Which turns lean on the memory follows from its readers.
    perform pgrecall.mix_neighbours(head);
end
$$;
