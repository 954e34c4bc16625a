-- By what an agent may share a memory, and until when. `root`: as its owner, or as an admin of the space where
-- it is not private; else by a share of its own, or by a delegation of the owner's; these are locked, so that
-- what ends one of them meanwhile ends what is given by it too.
create or replace function pgrecall.rights_to_share(m pgrecall.memories, who text)
returns table (root boolean, expires_at timestamptz, through text, delegation uuid)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select true, null::timestamptz, null::text, null::uuid
    where m.agent = who or m.visibility <> 'private' and exists (
        select from pgrecall.members b where b.space = m.space and b.agent = who and b.role = 'admin');
    return query
    select false, s.expires_at, who, null::uuid from pgrecall.memory_shares s
    where s.space = m.space and s.id = m.id and s.agent = who and s.permission = 'share'
        and coalesce(s.expires_at, 'infinity') > statement_timestamp()
    for key share;
    return query
    select false, d.expires_at, null::text, d.id from pgrecall.delegations d
    where d.agent = who and d.owner = m.agent and d.permission = 'share' and d.token = any (m.readers)
        and coalesce(d.expires_at, 'infinity') > statement_timestamp()
    for key share;
end
$$;
