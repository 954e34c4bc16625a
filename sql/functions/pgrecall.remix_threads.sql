-- Take what versions lent to the vectors of their threads out again. The turns that stand are mixed anew, as
-- mix_thread() has it; whatever else was once mixed, an archived turn or a past version, is left its own vector.
create or replace function pgrecall.remix_threads(gone pgrecall.erased_version[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    affected record;
    near record;
begin
    for affected in
        select distinct g.space, g.thread from unnest(gone) g where g.thread is not null order by g.space, g.thread
    loop
        update pgrecall.embeddings e set embedding = e.own, own = null
        from pgrecall.memories m
        where m.space = affected.space and m.thread = affected.thread
            and (m.superseded_at is not null or m.archived_at is not null)
            and e.space = m.space and e.id = m.id and e.version = m.version and e.own is not null;
        for near in
            select distinct m.id, m.version, e.model
            from pgrecall.memories m
            join pgrecall.embeddings e on e.space = m.space and e.id = m.id and e.version = m.version
            where m.space = affected.space and m.thread = affected.thread
                and m.superseded_at is null and m.archived_at is null and e.own is not null
            order by m.id, m.version, e.model
        loop
            perform pgrecall.mix_thread(affected.space, near.id, near.version, near.model);
        end loop;
    end loop;
end
$$;
