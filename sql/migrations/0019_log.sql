-- What verifying the log needs. framed() makes the bytes that every hash of the log is over: changing it would make
-- every chain invalid, so it stands here and not among the re-applied functions.

-- The fields as bytes that can be read back in one way only: each behind its length in four bytes, null as length -1.
-- That is how Postgres sends an array's elements, behind a header of 20 bytes; a loop of our own took four times as long.
create function pgrecall.framed(variadic fields bytea[]) returns bytea
language sql stable parallel safe
return substr(array_send(fields), 21);

-- A time as microseconds since 1970, whatever the session's settings; total, for a forged time must not stop a check.
create function pgrecall.microseconds(at timestamptz) returns bytea
language sql stable parallel safe
return case when isfinite(at) then (extract(epoch from at) * 1000000)::bigint::text else at::text end::bytea;

-- The first thing wrong at one place of a chain; no sequence where the log has no event for it.
create type pgrecall.chain_fault as (space text, agent text, sequence bigint, reason text);

-- A row of verify(). A named type, because PL/pgSQL can't have a parameter and a result of one name.
create type memory.verdict as (
    space text, agent text, events bigint, valid boolean, first_bad bigint, reason text
);
grant usage on type memory.verdict to pgrecall_agent, pgrecall_reader, pgrecall_service;
