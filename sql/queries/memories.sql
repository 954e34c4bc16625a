-- name: remember_many
select id, version, outcome from memory.remember_many($1) order by number

-- name: get_many
-- One by one: a plan of `id = any ($1)`, kept from when the store was empty, would go on reading all of it as it fills.
select m.* from unnest($1::uuid[]) as wanted(id)
cross join lateral (select * from memory.memories v where v.id = wanted.id limit 1) as m

-- name: resemblances
select id, similar_to as similar, contradicts from memory.resemblances($1)

-- name: recall
select * from memory.recall(
    query => $1, k => $2, space => $3, kinds => $4, entity => $5, tags => $6, since => $7, until => $8,
    as_of => $9, min_importance => $10, min_confidence => $11, mode => $12, rrf_k => $13, weights => $14,
    include => $15, skip => $16, query_embedding => $17)

-- name: degraded
-- Of the recall before, in the same transaction: an answer without rows says it too.
select nullif(current_setting('pgrecall.degraded', true), '')

-- name: get
select * from memory.memories where id = $1

-- name: collect_recalls
select pgrecall.collect_recalls()

-- name: maintain
select * from pgrecall.maintain(keep_deleted => $1)

-- name: ping
select 1
