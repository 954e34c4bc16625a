-- name: share
select memory.share($1, $2, $3, $4)

-- name: unshare
select memory.unshare($1, $2)

-- name: shares
select * from memory.shares where $1::uuid is null or id = $1 order by created_at, id, agent

-- name: share_with
select * from memory.shares where id = $1 and agent = $2

-- name: delegate
select memory.delegate($1, $2, $3, $4, $5, $6, $7)

-- name: revoke_delegation
select memory.revoke_delegation($1)

-- name: delegations
select * from memory.delegations
where $1::uuid is null or delegation = $1
order by created_at, delegation, owner, permission, space, kinds, tags
