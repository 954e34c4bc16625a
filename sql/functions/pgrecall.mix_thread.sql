-- Work out anew what is searched of a turn: its own vectors plus 0.3 of the turn before and 0.15 of the
-- turn after, because a turn leans on its neighbours. Measured: bench/retrieval on conversations.
-- Reckoned in four-byte floats: pgvector refuses a product that underflows, as small halves soon do.
create or replace function pgrecall.mix_thread(target text, memory_id uuid, of_version int, with_model text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    turn pgrecall.memories;
    mixed public.vector;
begin
    select * into turn from pgrecall.memories m
    where m.space = target and m.id = memory_id and m.version = of_version;
    select public.sum(near.own operator(public.*) near.weight) into mixed
    from (
        select public.avg(coalesce(e.own, e.embedding)::public.vector) as own,
            array_fill(case n.place when -1 then 0.3 else 0.15 end::real,
                array[max(public.vector_dims(e.embedding))])::public.vector as weight
        from pgrecall.thread_neighbours(turn) n
        join pgrecall.embeddings e
            on e.space = target and e.id = n.id and e.version = n.version and e.model = with_model
        group by n.place
    ) as near;
    update pgrecall.embeddings e set embedding = anew.embedding, own = coalesce(e.own, e.embedding)
    from (
        select o.chunk, case when mixed is null then coalesce(o.own, o.embedding)
            else public.l2_normalize(coalesce(o.own, o.embedding)::public.vector operator(public.+) mixed)::public.halfvec
            end as embedding
        from pgrecall.embeddings o
        where o.space = target and o.id = memory_id and o.version = of_version and o.model = with_model
    ) as anew
    where e.space = target and e.id = memory_id and e.version = of_version and e.model = with_model
        and e.chunk = anew.chunk
        -- Writing a vector puts it into its index again.
        and (e.own is null or e.embedding operator(public.<>) anew.embedding);
end
$$;
