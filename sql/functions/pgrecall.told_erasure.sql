-- An erasure's report in words.
create or replace function pgrecall.told_erasure(report memory.erased[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    told text;
    echoes bigint := (select r.rows from unnest(report) r where r.what = 'echoes');
begin
    select string_agg(format('%s %s', r.rows, case when r.rows = 1 then n.one else n.many end), ', ' order by n.place)
    into told
    from unnest(report) r
    join (values
        (1, 'versions', 'version', 'versions'), (2, 'embeddings', 'embedding', 'embeddings'),
        (3, 'links', 'link', 'links'), (4, 'recall_log', 'recall log entry', 'recall log entries')
    ) as n(place, what, one, many) using (what)
    where r.rows > 0;
    return format(
        'erased %s; WAL holds them until the next checkpoint and archive cycle%s', told,
        case when echoes > 0 then format('; other memories that say the same: %s', echoes) end);
end
$$;
