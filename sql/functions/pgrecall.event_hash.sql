-- The hash of one event: SHA-256 over the previous hash and every field, each behind its length.
-- Times are microseconds since 1970, so that no session's settings change the bytes.
create or replace function pgrecall.event_hash(
    previous_hash bytea, space text, agent text, sequence bigint, at timestamptz, action text,
    id uuid, version int, payload jsonb, commitment bytea
) returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select sha256(pgrecall.frame(
    encode(previous_hash, 'hex'), space, agent, sequence::text, (extract(epoch from at) * 1000000)::bigint::text,
    action, id::text, version::text, payload::text, encode(commitment, 'hex')))
$$;
