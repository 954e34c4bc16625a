-- name: due
select coalesce(array_agg(id), '{}') from pgrecall.upkeep where task = 'scrub'

-- name: set_lock_timeout
select set_config('lock_timeout', $1, false)

-- name: tables
-- The log holds no words, and nothing is ever taken from it.
select c.oid::regclass::text as name
from pg_class c
where c.relnamespace = 'pgrecall'::regnamespace and c.relkind = 'r' and c.relname not in ('events', 'chain_heads')
    or c.oid = 'pg_statistic'::regclass
order by c.relnamespace = 'pgrecall'::regnamespace desc, 1

-- name: bytes
select pg_total_relation_size($1::text::regclass)

-- name: vector_indexes
-- One that is not valid was left behind by a scrub that was interrupted.
select i.indexrelid::regclass::text as name
from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
where i.indrelid = 'pgrecall.embeddings'::regclass and a.amname = 'hnsw'
order by 1

-- name: missing_vector_indexes
-- As use_embedding_model() makes them, beside everyone's work.
select format(
    'create index concurrently if not exists %I on pgrecall.embeddings '
    'using hnsw ((embedding::public.halfvec(%s)) public.halfvec_cosine_ops) where head and model = %L',
    'embeddings_' || m.model, m.dimension, m.model) as make
from pgrecall.embedding_models m
where m.current or m.coming
order by m.model

-- name: scrubbed
delete from pgrecall.upkeep where id = any ($1)
