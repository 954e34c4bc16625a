-- Whether a locked head has expired; it is archived then, so that it stands in no new memory's way.
-- The event stands in the writer's chain: the owner's might be locked by a writer that waits for this one.
create or replace function pgrecall.retired(head pgrecall.memories) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if head.expires_at is null or head.expires_at > clock_timestamp() then
        return false;
    end if;
    update pgrecall.memories m set archived_at = head.expires_at
    where m.space = head.space and m.id = head.id and m.version = head.version;
    perform pgrecall.append_event(
        head.space, coalesce(memory.current_agent(), head.agent), 'expire', head.id, head.version, '{}', null);
    return true;
end
$$;
