-- name: own_held
select id, version, memory, score, reasons from pgrecall.own_held($1, $2, $3)

-- name: oldest
select * from memory.quarantine
where ($1::text is null or space = $1) and ($2::timestamptz is null or (at, id, version) > ($2, $3, $4))
order by at, id, version
limit $5

-- name: release
select memory.release($1, $2)

-- name: reject
select memory.reject($1, $2)
