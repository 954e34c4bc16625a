-- Erase one version of a memory. The one before it then holds until the next begins; where the newest goes, the one
-- before stands again. Answers what was erased.
create or replace function memory.forget_version(id uuid, version int) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    head pgrecall.memories := pgrecall.head_to_erase(forget_version.id, who);
    target pgrecall.erasure := (head.space, head.id, forget_version.version, forget_version.version);
    report memory.erased[];
begin
    perform from pgrecall.memories m where m.space = head.space and m.id = head.id for update;
    if not exists (
        select from pgrecall.memories m
        where m.space = head.space and m.id = head.id and m.version = forget_version.version)
    then
        raise exception 'memory % has no version %', forget_version.id, coalesce(forget_version.version::text, 'null')
            using errcode = 'P0002';
    elsif not exists (
        select from pgrecall.memories m
        where m.space = head.space and m.id = head.id and m.version <> forget_version.version)
    then
        return memory.forget(forget_version.id, 'erase');
    end if;
    report := array(select r from pgrecall.erasure_report(array[target]) r);
    perform pgrecall.erase_rows(array[target], who);
    return pgrecall.told_erasure(report);
end
$$;
grant execute on function memory.forget_version(uuid, int) to pgrecall_agent;
