-- Since when the newest so many rows of a scope that a tsquery finds have happened; null where there are fewer.
create or replace function pgrecall.since_newest(selector tsquery, s pgrecall.scope, rows int) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return (
        select m.happened_at from pgrecall.memories m
        where m.lexemes @@ selector and pgrecall.in_scope(m, s)
        order by m.happened_at desc, m.id, m.version
        offset rows limit 1);
end
$$;
