-- Whether an agent may change a memory: its own, in a space it writes in whatever is not private, and what a
-- share or a delegation lets it change.
create or replace function pgrecall.may_change(m pgrecall.memories, who text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return pgrecall.may_show(m, who)
        or exists (
            select from pgrecall.memory_shares s
            where s.space = m.space and s.id = m.id and s.agent = who and s.permission <> 'read'
                and coalesce(s.expires_at, 'infinity') > statement_timestamp())
        or exists (
            select from pgrecall.delegations d
            where d.agent = who and d.owner = m.agent and d.permission <> 'read' and d.token = any (m.readers)
                and coalesce(d.expires_at, 'infinity') > statement_timestamp());
end
$$;
