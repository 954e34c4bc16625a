-- name: events
select e.space, e.agent, e.sequence, e.at, e.action, e.id, e.version, e.payload,
    encode(e.commitment, 'hex') as commitment, encode(e.previous_hash, 'hex') as previous_hash,
    encode(e.hash, 'hex') as hash
from memory.events e
where ($1::text is null or e.space = $1) and ($2::text is null or e.agent = $2) and e.sequence > $3
    and (e.space, e.agent, e.sequence) > ($4, $5, $6)
order by e.space, e.agent, e.sequence
limit $7

-- name: verify
select space, agent, events, valid, first_bad, reason from memory.verify($1, $2)

-- name: verify_all
select space, agent, events, valid, first_bad, reason from pgrecall.verify_chains($1, null, null, null)

-- name: heads
select space, agent, sequence, encode(hash, 'hex') as hash from pgrecall.chain_heads
where $1::text is null or space = $1
order by space, agent

-- name: noted_heads
select h.space, h.agent, h.sequence, encode(h.hash, 'hex') as noted, encode(e.hash, 'hex') as hash,
    (select coalesce(max(l.sequence), 0) from pgrecall.events l where l.space = h.space and l.agent = h.agent) as last
from unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) as h(space, agent, sequence, hash)
left join pgrecall.events e on e.space = h.space and e.agent = h.agent and e.sequence = h.sequence
where e.hash is distinct from h.hash

-- name: count_events
select count(*) from pgrecall.events where $1::text is null or space = $1

-- name: export_events
select space, agent, sequence, convert_from(pgrecall.microseconds(at), 'UTF8') as at_microseconds, action,
    id::text as id, version, payload::text as payload,
    encode(commitment, 'hex') as commitment, encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash
from pgrecall.events
where $1::text is null or space = $1
order by space, agent, sequence
