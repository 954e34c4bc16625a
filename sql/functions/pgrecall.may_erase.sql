-- Whether an agent may erase a memory: its owner, for what is not private an admin of its space, and whoever runs
-- the deployment.
create or replace function pgrecall.may_erase(m pgrecall.memories, who text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return m.agent = who
        or m.visibility <> 'private' and exists (
            select from pgrecall.members b where b.space = m.space and b.agent = who and b.role = 'admin')
        or exists (select from pgrecall.agents a where a.agent = who and a.admin);
end
$$;
