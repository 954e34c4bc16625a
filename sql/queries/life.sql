-- name: revise
select memory.revise(
    id => $1, content => $2, kind => $3, title => $4, entity => $5, tags => $6, importance => $7, confidence => $8,
    visibility => $9, key => $10, pinned => $11, thread => $12, source => $13, event_at => $14, valid_from => $15,
    valid_until => $16, ttl => $17, metadata => $18, derived_from => $19, clear => $20, expected_version => $21)

-- name: restore
select memory.restore($1)

-- name: standing
select version, archived_at is not null as archived from memory.memory_versions
where id = $1 and superseded_at is null

-- name: newest_version
select * from memory.memory_versions where id = $1 and superseded_at is null

-- name: forget
select memory.forget($1, $2)

-- name: history
select * from memory.history($1)

-- name: link
select memory.link($1, $2, $3)

-- name: unlink
select memory.unlink($1, $2, $3)

-- name: erase
select what, rows from memory.erase(
    ids => $1, space => $2, key => $3, tag => $4, agent => $5, session => $6, source => $7, preview => $8)
