-- name: create_space
select memory.create_space($1)

-- name: spaces
select space, role, members, created_by, created_at from memory.spaces
where $1::text is null or space = $1
order by space

-- name: add_member
select memory.add_member($1, $2, $3)

-- name: remove_member
select memory.remove_member($1, $2)

-- name: members
select space, agent, role from memory.members where space = $1 order by agent
