-- Erase versions from every table that holds anything of them, with their salts: what the log keeps then proves
-- nothing of their words. A memory whose newest versions go stands again as it was before. A table that comes to
-- hold what memories say belongs here, and into erasure_report().
create or replace function pgrecall.erase_rows(targets pgrecall.erasure[], who text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    gone pgrecall.erased_version[];
    texts bytea[] := array(select e.text_hash from pgrecall.erased_texts(targets) e);
    one record;
begin
    perform pgrecall.collect_recalls();
    with lines as (
        delete from pgrecall.recall_log r using pgrecall.erased_queries(targets) l
        where r.space = l.space and r.id = l.id
        returning l.text_hash
    )
    select texts || array_agg(l.text_hash) into texts from lines l;
    delete from pgrecall.query_embeddings q where q.text_hash in (select unnest(texts));
    -- The request's hash could confirm a guess; the line stays, or the same request would write the memory again.
    update pgrecall.idempotency_keys k set request_hash = ''
    where exists (select from unnest(k.ids) i(id) where i.id in (select t.id from unnest(targets) t));
    delete from pgrecall.embeddings e using unnest(targets) t
    where e.space = t.space and e.id = t.id and e.version between t.first and t.last;
    delete from pgrecall.embedding_queue q using unnest(targets) t
    where q.space = t.space and q.id = t.id and q.version between t.first and t.last;
    delete from pgrecall.links l using pgrecall.erased_links(targets) g
    where (l.space, l.source, l.target, l.relation) = (g.space, g.source, g.target, g.relation);
    delete from pgrecall.usage u using unnest(targets) t
    where u.space = t.space and u.id = t.id and t.first = 1 and t.last = 2147483647;
    delete from pgrecall.memory_shares s using unnest(targets) t
    where s.space = t.space and s.id = t.id and t.first = 1 and t.last = 2147483647;
    delete from pgrecall.quarantine h using unnest(targets) t
    where h.space = t.space and h.id = t.id and h.version >= t.first;
    with deleted as (
        delete from pgrecall.memories m using unnest(targets) t
        where m.space = t.space and m.id = t.id and m.version between t.first and t.last
        returning m.space, m.id, m.version, m.thread, m.superseded_at is null as head, m.archived_at, m.deleted_at
    )
    select array_agg(row(d.*)::pgrecall.erased_version) into gone from deleted d;
    for one in
        select t.space, t.id from unnest(targets) t where t.first > 1 or t.last < 2147483647 order by t.space, t.id
    loop
        perform pgrecall.close_ranks(one.space, one.id, gone);
    end loop;
    perform pgrecall.remix_threads(gone);
    for one in
        select g.space, g.id, max(g.version) as version, count(*) as versions from unnest(gone) g
        group by g.space, g.id order by g.space, g.id
    loop
        perform pgrecall.append_event(
            one.space, who, 'erase', one.id, one.version, jsonb_build_object('versions', one.versions), null);
    end loop;
    insert into pgrecall.upkeep (task) values ('tidy'), ('scrub');
end
$$;
