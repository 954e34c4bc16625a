-- How many rows of each table go with versions; asked before they do, so that a preview tells the same. Not of
-- query_embeddings, which all agents share: whether a text is there tells that somebody asked it.
create or replace function pgrecall.erasure_report(targets pgrecall.erasure[])
returns setof memory.erased
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select 'memories', count(*) from unnest(targets) t
        join pgrecall.memories m on m.space = t.space and m.id = t.id and m.superseded_at is null
        where t.first = 1 and t.last = 2147483647
    union all
    select 'versions', count(*) from unnest(targets) t
        join pgrecall.memories m on m.space = t.space and m.id = t.id and m.version between t.first and t.last
    union all
    select 'embeddings', count(*) from unnest(targets) t
        join pgrecall.embeddings e on e.space = t.space and e.id = t.id and e.version between t.first and t.last
    union all
    select 'embedding_queue', count(*) from unnest(targets) t
        join pgrecall.embedding_queue q on q.space = t.space and q.id = t.id and q.version between t.first and t.last
    union all
    select 'links', count(*) from pgrecall.erased_links(targets)
    union all
    select 'usage', count(*) from unnest(targets) t join pgrecall.usage u on u.space = t.space and u.id = t.id
        where t.first = 1 and t.last = 2147483647
    union all
    select 'memory_shares', count(*) from unnest(targets) t
        join pgrecall.memory_shares s on s.space = t.space and s.id = t.id
        where t.first = 1 and t.last = 2147483647
    union all
    select 'quarantine', count(*) from unnest(targets) t
        join pgrecall.quarantine h on h.space = t.space and h.id = t.id and h.version >= t.first
    union all
    select 'recall_log', count(*) from pgrecall.erased_queries(targets)
    union all
    select 'idempotency_keys', count(*) from pgrecall.idempotency_keys k
        where exists (select from unnest(k.ids) i(id) where i.id in (select t.id from unnest(targets) t));
end
$$;
