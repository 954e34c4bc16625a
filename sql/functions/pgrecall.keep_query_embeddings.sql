-- Keep embeddings ('<model> […]') of query texts, and let the oldest go beyond ten thousand. One that failed
-- is not kept: the next call asks for it again.
create or replace function pgrecall.keep_query_embeddings(texts text[], embeddings text[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    most constant int := 10000;
begin
    insert into pgrecall.query_embeddings (model, text_hash, embedding)
    select distinct p.model, sha256(convert_to(g.query, 'UTF8')), p.vector::public.halfvec
    from unnest(texts, embeddings) as g(query, embedding)
    cross join lateral pgrecall.parse_embedding(g.embedding) as p
    join pgrecall.embedding_models m on m.model = p.model
    where p.vector is not null
    order by 2
    on conflict do nothing;
    delete from pgrecall.query_embeddings e
    using (
        select o.model, o.text_hash from pgrecall.query_embeddings o
        order by o.made_at desc, o.model, o.text_hash
        offset most
    ) as old
    where e.model = old.model and e.text_hash = old.text_hash;
end
$$;
grant execute on function pgrecall.keep_query_embeddings(text[], text[]) to pgrecall_service;
