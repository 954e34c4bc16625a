-- The query embedding that was given, else the one that the worker made of the same text before; where there
-- is none the worker is asked for it, by a notice that writes nothing and reaches it after the commit: sealed, because
-- any agent may listen.
create or replace function pgrecall.known_embedding(query text, given text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Sealed, it must stay within the 8000 bytes of a notice.
    longest constant int := 5900;
    known text;
begin
    if given is not null then
        return given;
    end if;
    select e.model || ' ' || e.embedding::text into known
    from pgrecall.query_embeddings e
    join pgrecall.embedding_models m on m.model = e.model and (m.current or m.coming)
    where e.text_hash = sha256(convert_to(query, 'UTF8'))
    order by m.current desc limit 1;
    if known is null and query ~ '\S' and octet_length(query) <= longest and not pg_is_in_recovery() then
        perform pg_notify('pgrecall_wanted', pgrecall.sealed(query));
    end if;
    return known;
end
$$;
