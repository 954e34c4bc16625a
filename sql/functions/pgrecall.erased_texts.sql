-- The hashes of the texts of versions, each with the memory's owner, by which what was made of them elsewhere is found.
create or replace function pgrecall.erased_texts(targets pgrecall.erasure[]) returns table (agent text, text_hash bytea)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select distinct m.agent, sha256(convert_to(said.words, 'UTF8'))
    from unnest(targets) t
    join pgrecall.memories m on m.space = t.space and m.id = t.id and m.version between t.first and t.last
    cross join lateral unnest(
        array[m.content, m.title, m.entity, m.key, m.source, concat_ws(E'\n', m.title, m.content)] || m.tags
    ) as said(words)
    where said.words is not null;
end
$$;
