-- Make the owner's memories that a new delegation takes known to it, by its token among their readers. What is
-- passed on takes only what the delegation above it takes. Again and again until no head is left: a head that
-- was being replaced meanwhile is met when its writer is done, and the versions that carry the token are locked.
create or replace function pgrecall.stamp_delegation(d pgrecall.delegations) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    needed text[] := array['agent:' || d.owner]
        || array(select p.token from pgrecall.delegations p where p.id = d.parent);
    selective boolean := d.kinds is not null or d.tags is not null;
    turn pgrecall.memories;
begin
    if d.token not like 'delegation:%' then
        return;
    end if;
    insert into pgrecall.row_tokens values (d.token, d.id, selective);
    loop
        update pgrecall.memories m set readers = pgrecall.with_tokens(m.readers, array[d.token])
        from (
            select h.space, h.id from pgrecall.memories h
            where h.readers @> needed and not h.readers @> array[d.token] and h.superseded_at is null
                and (d.space is null or h.space = d.space)
                and (d.kinds is null or h.kind = any (d.kinds))
                and (d.tags is null or h.tags @> d.tags)
        ) as head
        where m.space = head.space and m.id = head.id;
        exit when not found;
    end loop;
    update pgrecall.embeddings e set readers = m.readers
    from pgrecall.memories m
    where m.readers @> array[d.token] and e.space = m.space and e.id = m.id and e.version = m.version;
    -- Otherwise a thread's turns of one owner got the token all alike, and stay each other's neighbours.
    if selective then
        for turn in
            select m.* from pgrecall.memories m
            where m.readers @> array[d.token] and m.superseded_at is null and m.thread is not null
            order by m.id
        loop
            perform pgrecall.mix_again(turn, pgrecall.without_tokens(turn.readers, array[d.token]));
        end loop;
    end if;
end
$$;
