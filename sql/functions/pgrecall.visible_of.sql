-- Those of the memories named that the session may see, in the same order; null where there are none.
create or replace function pgrecall.visible_of(ids uuid[]) returns uuid[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
-- A plan that was made while the store was empty would go on reading all of it as it fills.
set enable_seqscan = off
as $$
declare
    seen_as text[];
begin
    if ids is null then
        return null;
    end if;
    -- Once, and not for each row that is compared.
    seen_as := pgrecall.principals();
    return (
        select array_agg(o.id order by o.place)
        from unnest(ids) with ordinality as o(id, place)
        where exists (
            select from pgrecall.memories m
            where m.id = o.id and m.superseded_at is null and m.readers && seen_as));
end
$$;
grant execute on function pgrecall.visible_of(uuid[]) to pgrecall_agent, pgrecall_reader;
