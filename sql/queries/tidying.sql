-- name: resolve
select id, outcome, why from memory.resolve(ids => $1, how => $2, content => $3)

-- name: clusters
select cluster, ids, contents, entity, visibility, shared_words
from memory.clusters(space => $1, max_importance => $2, smallest => $3, max_clusters => $4)

-- name: consolidate
select memory.consolidate(ids => $1, content => $2, title => $3, kind => $4, entity => $5, key => $6)

-- name: health
select concern, memories, examples, advice from memory.health($1)
