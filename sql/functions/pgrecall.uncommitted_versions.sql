-- Versions of memories that are not as the log commits to them: changed, gone without an erasure, or written past
-- the log. The arguments are those of broken_links().
create or replace function pgrecall.uncommitted_versions(target text, who text, administered text[])
returns setof pgrecall.chain_fault
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select e.space, e.agent, e.sequence, format(
        case when m.id is null then 'version %s of memory %s is gone, and no event erased it'
            else 'version %s of memory %s was changed: event %s committed to another' end,
        e.version, e.id, e.sequence)
    from pgrecall.events e
    left join pgrecall.memories m on m.space = e.space and m.id = e.id and m.version = e.version
    where (target is null or e.space = target)
        and (administered is null or e.agent = who or e.space = any (administered))
        and pgrecall.committed_version(e)
        and case when m.id is null then not exists (
                select from pgrecall.events x
                where x.space = e.space and x.id = e.id and pgrecall.erasing(x.action)
                    and (x.version is null or x.version >= e.version))
            else e.commitment <> case octet_length(e.commitment)
                when 33 then pgrecall.commitment(m) else pgrecall.commitment_1(m) end
            end
    union all
    select m.space, m.agent, null, format('version %s of memory %s stands in no event', m.version, m.id)
    from pgrecall.memories m
    where (target is null or m.space = target)
        and (administered is null or m.agent = who or m.space = any (administered))
        and not exists (
            select from pgrecall.events e
            where e.space = m.space and e.id = m.id and e.version = m.version and pgrecall.committed_version(e));
end
$$;
