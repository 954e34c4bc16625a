-- The hash of one event: SHA-256 over the previous hash and every field, each behind its length.
-- Times are microseconds since 1970, so that no session's settings change the bytes.
create or replace function pgrecall.event_hash(
    previous_hash bytea, space text, agent text, sequence bigint, at timestamptz, action text,
    id uuid, version int, payload jsonb, commitment bytea
) returns bytea
language sql stable parallel safe
return sha256(pgrecall.framed(
    encode(previous_hash, 'hex')::bytea, convert_to(space, 'UTF8'), convert_to(agent, 'UTF8'), sequence::text::bytea,
    pgrecall.microseconds(at), convert_to(action, 'UTF8'), id::text::bytea,
    version::text::bytea, convert_to(payload::text, 'UTF8'), encode(commitment, 'hex')::bytea));
