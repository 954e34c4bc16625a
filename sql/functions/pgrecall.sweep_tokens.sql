-- Drop shares and delegations that are over, and take the readers off that nobody has any more, some at a time.
-- They let nobody read; but turns of a thread lean on each other only where their readers are the same.
create or replace function pgrecall.sweep_tokens(most int default 100) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    dead pgrecall.row_tokens;
    turn pgrecall.memories;
begin
    delete from pgrecall.memory_shares s where s.expires_at <= now();
    delete from pgrecall.delegations d where d.expires_at <= now();
    for dead in
        select t.* from pgrecall.row_tokens t
        where not exists (select from pgrecall.delegations d where d.id = t.subject)
            and not exists (select from pgrecall.memory_shares s where s.id = t.subject)
        order by t.token limit most
    loop
        -- A share may come while this waits for the head: looked up again when the head is locked.
        perform from pgrecall.memories m
        where m.readers @> array[dead.token] and m.superseded_at is null order by m.space, m.id for update;
        continue when exists (select from pgrecall.memory_shares s where s.id = dead.subject);
        update pgrecall.embeddings e set readers = pgrecall.without_tokens(e.readers, array[dead.token])
        from pgrecall.memories m
        where m.readers @> array[dead.token] and e.space = m.space and e.id = m.id and e.version = m.version;
        for turn in
            update pgrecall.memories m set readers = pgrecall.without_tokens(m.readers, array[dead.token])
            where m.readers @> array[dead.token]
            returning m.*
        loop
            continue when not dead.selective;
            perform pgrecall.mix_again(turn, pgrecall.with_tokens(turn.readers, array[dead.token]));
        end loop;
        delete from pgrecall.row_tokens t where t.token = dead.token;
    end loop;
end
$$;
