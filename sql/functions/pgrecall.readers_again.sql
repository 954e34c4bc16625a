-- Who may read a version of a memory that had nobody's readers but the admins': whom its own visibility and that of
-- all later versions lets, and the shares and delegations that know the head.
create or replace function pgrecall.readers_again(m pgrecall.memories, head pgrecall.memories) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return pgrecall.with_tokens(
        array(
            select o.reader
            from unnest(pgrecall.readers_of(m.agent, m.space, m.visibility)) with ordinality as o(reader, place)
            where not exists (
                select from pgrecall.memories w
                where w.space = m.space and w.id = m.id and w.version > m.version
                    and o.reader <> all (pgrecall.readers_of(w.agent, w.space, w.visibility)))
            order by o.place),
        pgrecall.readers_now(head));
end
$$;
