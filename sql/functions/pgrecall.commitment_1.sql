-- The first form of a version's commitment, 32 bytes, which older events carry. It says nothing of importance,
-- confidence, pinning, times, agents and provenance.
create or replace function pgrecall.commitment_1(m pgrecall.memories) returns bytea
language sql stable parallel safe
return sha256(m.salt || pgrecall.framed(
    convert_to(m.content, 'UTF8'), convert_to(m.title, 'UTF8'), convert_to(m.entity, 'UTF8'),
    convert_to(m.tags::text, 'UTF8'), convert_to(m.kind, 'UTF8'), convert_to(m.visibility, 'UTF8'), convert_to(m.key, 'UTF8'),
    convert_to(m.thread, 'UTF8'), convert_to(m.source, 'UTF8'), convert_to(m.metadata::text, 'UTF8')));
