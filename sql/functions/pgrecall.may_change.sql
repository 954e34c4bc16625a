-- Whether an agent may change a memory: its own, and in a space it writes in whatever is not private.
create or replace function pgrecall.may_change(m pgrecall.memories, who text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return m.agent = who or m.visibility <> 'private' and exists (
        select from pgrecall.members b
        where b.space = m.space and b.agent = who and b.role in ('writer', 'admin'));
end
$$;
