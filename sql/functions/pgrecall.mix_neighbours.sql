-- Work out the vectors of a turn's neighbours anew, after the turn came, changed or went.
create or replace function pgrecall.mix_neighbours(turn pgrecall.memories) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    near record;
begin
    if turn.thread is null then
        return;
    end if;
    for near in
        select distinct n.id, n.version, e.model
        from pgrecall.thread_neighbours(turn) n
        join pgrecall.embeddings e on e.space = turn.space and e.id = n.id and e.version = n.version
        order by n.id, n.version, e.model
    loop
        perform pgrecall.mix_thread(turn.space, near.id, near.version, near.model);
    end loop;
end
$$;
