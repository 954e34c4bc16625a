-- name: claim
insert into pgrecall.idempotency_keys as k (space, key_hash, request_hash, expires_at)
values ($1, $2, $3, now() + $4)
on conflict (space, key_hash) do update
    set request_hash = excluded.request_hash, ids = null, versions = null, repeated = null,
        expires_at = excluded.expires_at
    where k.expires_at <= now()
returning true

-- name: find
select request_hash, ids, versions, repeated from pgrecall.idempotency_keys where space = $1 and key_hash = $2

-- name: keep
update pgrecall.idempotency_keys set ids = $3, versions = $4, repeated = $5 where space = $1 and key_hash = $2

-- name: forget_expired
delete from pgrecall.idempotency_keys k
using (
    select e.space, e.key_hash from pgrecall.idempotency_keys e
    where e.expires_at <= now()
    limit 100
    for update skip locked
) as expired
where k.space = expired.space and k.key_hash = expired.key_hash

-- name: written_versions
select v.id, v.version, v.space, v.agent, v.kind, v.visibility, v.title, v.content, v.entity, v.tags,
    v.importance, v.confidence, v.pinned, v.key, v.thread, v.source, v.metadata,
    v.event_at, v.valid_from, v.valid_until, v.expires_at, v.created_at, v.session, v.written_by,
    v.source_type, v.derived_from, v.echo_of
from unnest($1::uuid[], $2::int[]) with ordinality as w(id, version, number)
join memory.memory_versions v on v.id = w.id and v.version = w.version
order by w.number
