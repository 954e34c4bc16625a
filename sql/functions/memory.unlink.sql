-- Take a link away, of a memory that one may change to another that one sees: neither related() nor recall()'s graph
-- leg follows it any more.
create or replace function memory.unlink(source uuid, target uuid, relation text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    seen_as constant pgrecall.viewer := pgrecall.viewer();
    head pgrecall.memories := pgrecall.head_to_change(source, who);
begin
    delete from pgrecall.links l
    where l.space = head.space and l.source = head.id and l.target = unlink.target and l.relation = unlink.relation
        and exists (
            select from pgrecall.memories m
            where m.space = l.space and m.id = l.target and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as));
    if not found then
        raise exception 'no link % from memory % to %', quote_nullable(relation), source, target using errcode = 'P0002';
    end if;
    perform pgrecall.append_event(
        head.space, who, 'unlink', source, head.version, jsonb_build_object('target', target),
        sha256(head.salt || pgrecall.frame(target::text, relation)));
end
$$;
grant execute on function memory.unlink(uuid, uuid, text) to pgrecall_agent;
