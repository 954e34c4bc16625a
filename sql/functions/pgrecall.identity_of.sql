-- What makes a memory the same memory said twice: its words, and what they are said of.
create or replace function pgrecall.identity_of(
    content text, key text, entity text, thread text, event_at timestamptz
) returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select sha256(pgrecall.frame(
    content, key, entity, thread, (extract(epoch from event_at) * 1000000)::bigint::text))
$$;
