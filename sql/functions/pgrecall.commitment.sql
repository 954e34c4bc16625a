-- What an event says of a version: a hash that can't be guessed once the salt is erased. A byte 2 before it names
-- this form, which covers all that stays as it was written; the first form is in commitment_1().
create or replace function pgrecall.commitment(m pgrecall.memories) returns bytea
language sql stable parallel safe
return '\x02'::bytea || sha256(m.salt || pgrecall.framed(
    convert_to(m.content, 'UTF8'), convert_to(m.title, 'UTF8'), convert_to(m.entity, 'UTF8'),
    convert_to(m.tags::text, 'UTF8'), convert_to(m.kind, 'UTF8'), convert_to(m.visibility, 'UTF8'), convert_to(m.key, 'UTF8'),
    convert_to(m.thread, 'UTF8'), convert_to(m.source, 'UTF8'), convert_to(m.metadata::text, 'UTF8'),
    convert_to(m.agent, 'UTF8'), float4send(m.importance), float4send(m.confidence), m.pinned::text::bytea,
    pgrecall.microseconds(m.event_at), pgrecall.microseconds(m.valid_from), pgrecall.microseconds(m.valid_until),
    pgrecall.microseconds(m.expires_at), pgrecall.microseconds(m.created_at), m.session::text::bytea,
    convert_to(m.written_by, 'UTF8'), m.derived_from::text::bytea));
