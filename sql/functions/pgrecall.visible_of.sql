-- Those of the memories named that the session may see, in the same order; null where there are none.
create or replace function pgrecall.visible_of(ids uuid[]) returns uuid[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
    seen_as pgrecall.viewer;
    one uuid;
    seen uuid[];
begin
    if ids is null then
        return null;
    end if;
    -- Once, and not for each row that is compared.
    seen_as := pgrecall.viewer();
    -- One by one: the plan of a join, made while the store was empty, would go on reading all of it as it fills.
    foreach one in array ids loop
        perform from pgrecall.memories m
        where m.id = one and m.superseded_at is null and pgrecall.readable(m.readers, m.id, seen_as);
        if found then
            seen := seen || one;
        end if;
    end loop;
    return seen;
end
$$;
grant execute on function pgrecall.visible_of(uuid[]) to pgrecall_agent, pgrecall_reader;
