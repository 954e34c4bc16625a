-- Whether an agent may decide who sees a memory by its visibility: its owner, and where it is not private whoever
-- writes in the space. No share and no delegation goes as far.
create or replace function pgrecall.may_show(m pgrecall.memories, who text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return m.agent = who or m.visibility <> 'private' and exists (
        select from pgrecall.members b
        where b.space = m.space and b.agent = who and b.role in ('writer', 'admin'));
end
$$;
