-- Bring back a memory that was archived, has expired or, for who still sees it, was deleted. Answers the version
-- that stands: a new one without an end where the old one had expired. What stands already stays as it is.
create or replace function memory.restore(id uuid) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    head pgrecall.memories := pgrecall.head_to_change(restore.id, who);
    next pgrecall.memories;
begin
    if head.archived_at is null and coalesce(head.expires_at > clock_timestamp(), true) then
        return head.version;
    end if;
    if head.archived_at is not null and head.visibility = 'private' and head.agent <> who then
        -- Whether its key or words stand again among what the owner keeps to himself is his alone to know.
        raise exception 'only its owner may bring private memory % back', restore.id using errcode = '42501';
    end if;
    if head.deleted_at is not null then
        update pgrecall.memories m
        set readers = pgrecall.readers_again(m, head), archived_at = null, deleted_at = null
        where m.space = head.space and m.id = head.id;
    else
        update pgrecall.memories m set archived_at = null
        where m.space = head.space and m.id = head.id and m.version = head.version;
    end if;
    perform pgrecall.append_event(head.space, who, 'restore', head.id, head.version, '{}', null);
    select * into head from pgrecall.memories m
    where m.space = head.space and m.id = head.id and m.version = head.version;
    if head.expires_at <= clock_timestamp() then
        next := head;
        next.expires_at := null;
        return (pgrecall.supersede(head, next, who, null)).version;
    end if;
    perform pgrecall.reembed(head);
    return head.version;
exception when unique_violation then
    raise exception 'another memory stands with the words or the key of memory %', restore.id
        using errcode = '23505', hint = 'Forget that one first, or revise it.';
end
$$;
grant execute on function memory.restore(uuid) to pgrecall_agent;
