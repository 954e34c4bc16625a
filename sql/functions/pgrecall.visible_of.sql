-- Those of the memories named that the session may see, in the same order; null where there are none.
create or replace function pgrecall.visible_of(ids uuid[]) returns uuid[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if ids is null then
        return null;
    end if;
    return (
        select array_agg(o.id order by o.place)
        from unnest(ids) with ordinality as o(id, place)
        where exists (
            select from pgrecall.memories m
            where m.id = o.id and m.superseded_at is null and m.readers && pgrecall.principals()));
end
$$;
grant execute on function pgrecall.visible_of(uuid[]) to pgrecall_agent, pgrecall_reader;
