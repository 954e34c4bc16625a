-- The lines of the recall log that go with versions: those answered with the memory, and those that asked for its
-- content, its title or another text of it word for word. A line without an id waits to come to the log.
create or replace function pgrecall.erased_queries(targets pgrecall.erasure[])
returns table (space text, id uuid, text_hash bytea)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    texts bytea[] := pgrecall.erased_texts(targets);
begin
    return query
    select r.space, r.id, sha256(convert_to(r.query, 'UTF8'))
    from (
        select l.space, l.id, l.ids, l.query from pgrecall.recall_log l
        union all
        select s.space, null, s.ids, s.query from pgrecall.recall_spool s
    ) as r
    where exists (
            select from unnest(r.ids) as answered(id)
            where answered.id in (select t.id from unnest(targets) t))
        or sha256(convert_to(r.query, 'UTF8')) in (select unnest(texts));
end
$$;
