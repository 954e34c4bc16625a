-- name: alias
select memory.alias($1, $2, $3)

-- name: unalias
select memory.unalias($1, $2)

-- name: aliases
select space, entity, alias from memory.aliases order by space, entity, alias

-- name: alias_named
select space, entity, alias from memory.aliases where space = $1 and alias = $2
