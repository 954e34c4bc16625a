-- name: due
select coalesce(array_agg(id), '{}') from pgrecall.upkeep where task = 'scrub'

-- name: set_lock_timeout
select set_config('lock_timeout', $1, false)

-- name: tables
select c.oid::regclass::text as name
from pg_class c
where c.relnamespace = 'pgrecall'::regnamespace and c.relkind = 'r' or c.oid = 'pg_statistic'::regclass
order by c.relnamespace = 'pgrecall'::regnamespace desc, 1

-- name: scrubbed
delete from pgrecall.upkeep where id = any ($1)
