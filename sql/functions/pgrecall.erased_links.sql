-- The links that go with memories which are erased as a whole.
create or replace function pgrecall.erased_links(targets pgrecall.erasure[]) returns setof pgrecall.links
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select l.* from unnest(targets) t join pgrecall.links l on l.space = t.space and l.source = t.id
    where t.first = 1 and t.last = 2147483647
    union
    select l.* from unnest(targets) t join pgrecall.links l on l.space = t.space and l.target = t.id
    where t.first = 1 and t.last = 2147483647;
end
$$;
