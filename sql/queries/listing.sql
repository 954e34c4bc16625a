-- name: newest
select * from memory.memories
where id < $1
    and ($2::text is null or space = $2)
    and ($3::text[] is null or kind = any ($3))
    and ($4::text is null or id in (select memory.about($4, $2)))
    and ($5::text[] is null or tags @> $5)
    and ($6::text is null or agent = $6)
    and ($7::text is null or thread = $7)
    and ($8::timestamptz is null or coalesce(event_at, created_at) >= $8)
    and ($9::timestamptz is null or coalesce(event_at, created_at) < $9)
    and importance >= $10 and confidence >= $11
order by id desc
limit $12

-- name: stats
select space, kind, count(*) as memories, max(created_at) as newest_at
from memory.memories
group by space, kind
order by space, kind
