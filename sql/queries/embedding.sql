-- name: use_model
select pgrecall.use_embedding_model($1, $2)

-- name: claim
select space, id, version, embed_text, unserved from pgrecall.claim_unembedded($1, $2)

-- name: store
-- A vector lost in a crash is made again, so the commit need not wait for the disk.
with lazily as materialized (select set_config('synchronous_commit', 'off', true))
select pgrecall.store_embeddings($1, $2, $3, $4, $5) from lazily

-- name: release
update pgrecall.embedding_queue q
set attempts = greatest(q.attempts - 1, 0), due_at = now() + $4::interval
from unnest($1::text[], $2::uuid[], $3::int[]) as claimed (space, id, version)
where (q.space, q.id, q.version) = (claimed.space, claimed.id, claimed.version)

-- name: settle
select backlog, serving from pgrecall.settle_embeddings()

-- name: queue_all
insert into pgrecall.embedding_queue (space, id, version)
select m.space, m.id, m.version from pgrecall.memories m where m.superseded_at is null
on conflict (space, id, version) do update set attempts = 0, due_at = now()

-- name: unsealed
select distinct t.text from unnest($1::text[]) as n(notice), pgrecall.unsealed(n.notice) as t(text)
where t.text is not null

-- name: keep_query_embeddings
select pgrecall.keep_query_embeddings($1, $2)
