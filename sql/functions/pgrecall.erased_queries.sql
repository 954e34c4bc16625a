-- The lines of the recall log that go with versions: those answered with the memory, and those in which its owner
-- asked for a text of it word for word. Nobody else's: their number would tell what others ask. A line without an
-- id waits to come to the log.
create or replace function pgrecall.erased_queries(targets pgrecall.erasure[])
returns table (space text, id uuid, text_hash bytea)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select r.space, r.id, sha256(convert_to(r.query, 'UTF8'))
    from (
        select l.space, l.id, l.agent, l.ids, l.query from pgrecall.recall_log l
        union all
        select s.space, null, s.agent, s.ids, s.query from pgrecall.recall_spool s
    ) as r
    where exists (
            select from unnest(r.ids) as answered(id)
            where answered.id in (select t.id from unnest(targets) t))
        or (r.agent, sha256(convert_to(r.query, 'UTF8'))) in (
            select e.agent, e.text_hash from pgrecall.erased_texts(targets) e);
end
$$;
