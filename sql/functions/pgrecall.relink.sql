-- Work out anew when each version of a memory ends: it is superseded when the next that stands was written, and
-- holds until the earliest time from which a later one does.
create or replace function pgrecall.relink(target text, memory_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgrecall.memories m
    set superseded_at = chain.next_written, replaced_from = nullif(chain.next_holds, chain.next_written)
    from (
        select v.version,
            lead(v.created_at) over later as next_written,
            min(coalesce(v.valid_from, v.created_at)) over (later rows between 1 following and unbounded following)
                as next_holds
        from pgrecall.memories v
        where v.space = target and v.id = memory_id
        window later as (order by v.version)
    ) as chain
    where m.space = target and m.id = memory_id and m.version = chain.version
        and (m.superseded_at, m.replaced_from)
            is distinct from (chain.next_written, nullif(chain.next_holds, chain.next_written));
end
$$;
