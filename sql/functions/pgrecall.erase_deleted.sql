-- Erase what was deleted so long ago, some at a time; answers how many memories.
create or replace function pgrecall.erase_deleted(keep interval, batch int default 1000) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    owner text;
    targets pgrecall.erasure[];
    done bigint := 0;
begin
    for owner, targets in
        select d.agent, array_agg(row(d.space, d.id, 1, 2147483647)::pgrecall.erasure order by d.space, d.id)
        from (
            select m.agent, m.space, m.id from pgrecall.memories m
            where m.superseded_at is null and m.deleted_at < now() - keep
            order by m.space, m.id
            limit batch
            for update skip locked
        ) as d
        group by d.agent
    loop
        perform pgrecall.erase_rows(targets, owner);
        done := done + cardinality(targets);
    end loop;
    return done;
end
$$;
