-- Give every version of a memory some readers and take others from it; its head is locked by the caller.
-- Vectors come in a statement of their own, which sees those stored while this waited for a version's row.
create or replace function pgrecall.change_tokens(head pgrecall.memories, added text[], removed text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    after pgrecall.memories := head;
begin
    update pgrecall.memories m
    set readers = pgrecall.with_tokens(pgrecall.without_tokens(m.readers, removed), added)
    where m.space = head.space and m.id = head.id;
    update pgrecall.embeddings e
    set readers = pgrecall.with_tokens(pgrecall.without_tokens(e.readers, removed), added)
    where e.space = head.space and e.id = head.id;
    after.readers := pgrecall.with_tokens(pgrecall.without_tokens(head.readers, removed), added);
    perform pgrecall.mix_again(after, head.readers);
end
$$;
