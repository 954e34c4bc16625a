-- The number of a memory's next version. The log knows of those that were erased and of those in quarantine: no
-- number comes twice, or whoever holds one would take another version for theirs.
create or replace function pgrecall.next_version(target text, memory_id uuid) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return 1 + greatest(
        (select max(m.version) from pgrecall.memories m where m.space = target and m.id = memory_id),
        (select max(e.version) from pgrecall.events e where e.space = target and e.id = memory_id));
end
$$;
