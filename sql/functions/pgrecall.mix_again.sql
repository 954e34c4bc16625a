-- Work out a turn's vectors and its neighbours' anew, after its readers became others: which turns are its
-- neighbours follows from them.
create or replace function pgrecall.mix_again(turn pgrecall.memories, readers_before text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    before pgrecall.memories := turn;
    with_model text;
begin
    if turn.thread is null or turn.superseded_at is not null or turn.readers = readers_before then
        return;
    end if;
    for with_model in
        select distinct e.model from pgrecall.embeddings e
        where e.space = turn.space and e.id = turn.id and e.version = turn.version
        order by e.model
    loop
        perform pgrecall.mix_thread(turn.space, turn.id, turn.version, with_model);
    end loop;
    before.readers := readers_before;
    perform pgrecall.mix_neighbours(before), pgrecall.mix_neighbours(turn);
end
$$;
