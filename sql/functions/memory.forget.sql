-- Forget a memory: `archive` takes it out of recall, `delete` also out of every reader's sight but the
-- space admins', `erase` leaves nothing of it but the fact, in the log, that it was. Answers what was done.
create or replace function memory.forget(id uuid, how text default 'archive') returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    head pgrecall.memories;
    report memory.erased[];
begin
    case how
        when 'archive' then
            head := pgrecall.head_to_change(forget.id, who);
            update pgrecall.memories m set archived_at = coalesce(m.archived_at, clock_timestamp())
            where m.space = head.space and m.id = head.id and m.version = head.version;
            perform pgrecall.mix_neighbours(head);
            perform pgrecall.append_event(head.space, who, 'archive', head.id, head.version, '{}', null);
            return 'archived';
        when 'delete' then
            return pgrecall.delete_memory(pgrecall.head_to_change(forget.id, who), who);
        when 'erase' then
            perform pgrecall.head_to_erase(forget.id, who);
            report := array(select e from memory.erase(array[forget.id]) e);
            if exists (select from unnest(report) r where r.what = 'versions' and r.rows = 0) then
                raise exception 'no memory %', forget.id using errcode = 'P0002'; -- another was first
            end if;
            return pgrecall.told_erasure(report);
        else
            raise exception 'how must be archive, delete or erase, not %', quote_nullable(how) using errcode = '22023';
    end case;
end
$$;
grant execute on function memory.forget(uuid, text) to pgrecall_agent;
