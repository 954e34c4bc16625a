-- After versions of a memory went: its others end when the next that is left begins, and where the newest went, the
-- one before stands again, archived if that one was, or if another memory has taken its words or its key by now.
create or replace function pgrecall.close_ranks(target text, memory_id uuid, gone pgrecall.erased_version[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    newest pgrecall.memories;
    lost_head pgrecall.erased_version;
begin
    select * into lost_head from unnest(gone) g
    where g.space = target and g.id = memory_id and g.head;
    select * into newest from pgrecall.memories m
    where m.space = target and m.id = memory_id
    order by m.version desc
    limit 1;
    begin
        if lost_head.archived_at is not null then
            update pgrecall.memories m set archived_at = lost_head.archived_at, deleted_at = lost_head.deleted_at
            where m.space = target and m.id = memory_id and m.version = newest.version;
        end if;
        perform pgrecall.relink(target, memory_id);
    exception when unique_violation then
        update pgrecall.memories m set archived_at = clock_timestamp()
        where m.space = target and m.id = memory_id and m.version = newest.version;
        perform pgrecall.relink(target, memory_id);
    end;
    if lost_head.id is not null then
        select * into newest from pgrecall.memories m
        where m.space = target and m.id = memory_id and m.version = newest.version;
        if newest.deleted_at is null then
            perform pgrecall.show_again(newest);
        end if;
        perform pgrecall.reembed(newest);
    end if;
end
$$;
