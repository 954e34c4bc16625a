-- What is wrong with the chains of a space, null for all, as chains: hashes, sequence, ends. `administered` are the
-- spaces of which all chains are looked at, null for every space; of the others it is the agent's own chain.
create or replace function pgrecall.broken_links(target text, who text, administered text[])
returns setof pgrecall.chain_fault
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    with told as (
        select e.space, e.agent, e.sequence, e.previous_hash, e.hash,
            e.hash = pgrecall.event_hash(e.previous_hash, e.space, e.agent, e.sequence, e.at, e.action, e.id,
                e.version, e.payload, e.commitment) as sound
        from pgrecall.events e
        where (target is null or e.space = target)
            and (administered is null or e.agent = who or e.space = any (administered))
        offset 0 -- else the hash is worked out twice
    ), linked as (
        select t.*, lag(t.sequence, 1, 0::bigint) over chain as before, lead(t.sequence) over chain as after,
            lead(t.previous_hash) over chain as named_after, lead(t.sound) over chain as sound_after
        from told t window chain as (partition by t.space, t.agent order by t.sequence)
    ), suspect as (
        select l.*, h.sequence as head, h.hash = l.hash and h.previous_hash = l.previous_hash as head_agrees
        from linked l
        left join pgrecall.chain_heads h on l.after is null and h.space = l.space and h.agent = l.agent
        where l.sequence <> l.before + 1 or not l.sound or l.named_after <> l.hash
            or l.before <= 0 and l.previous_hash <> sha256('')
            or l.after is null and (h.sequence, h.previous_hash, h.hash)
                is distinct from (l.sequence, l.previous_hash, l.hash)
    )
    select l.space, l.agent, f.sequence, f.reason
    from suspect l
    cross join lateral (
        select l.sequence, format('event %s stands before the beginning of the chain', l.sequence) as reason
        where l.sequence < 1
        union all
        select l.before + 1, pgrecall.missing_events(l.before + 1, l.sequence - 1)
        where l.before >= 0 and l.sequence > l.before + 1
        union all
        select l.sequence, format('event %s was changed: its hash is not that of its fields', l.sequence)
        where not l.sound
        union all
        select l.sequence, format('event %s was replaced: it does not begin the chain', l.sequence)
        where l.sound and l.before <= 0 and l.sequence = 1 and l.previous_hash <> sha256('')
        union all
        select l.sequence, format('event %s was replaced: event %s was chained to another', l.sequence, l.after)
        where l.sound and l.sound_after and l.after = l.sequence + 1 and l.named_after <> l.hash
        union all
        select case when l.head < l.sequence then l.head + 1 when l.head = l.sequence then l.head else l.sequence + 1 end,
            case when l.head is null then 'the chain has no head: where it ends can''t be told'
                when l.head > l.sequence then pgrecall.missing_events(l.sequence + 1, l.head)
                when l.head < l.sequence then format('the chain''s head is event %s, and more follow it', l.head)
                else format('the chain''s head is not event %s as it stands: one of them was changed', l.head) end
        where l.after is null and (l.head is distinct from l.sequence or not l.head_agrees)
    ) f
    union all
    select h.space, h.agent, 1, pgrecall.missing_events(1, h.sequence)
    from pgrecall.chain_heads h
    where (target is null or h.space = target)
        and (administered is null or h.agent = who or h.space = any (administered))
        and h.sequence > 0 and not exists (
            select from pgrecall.events e where e.space = h.space and e.agent = h.agent);
end
$$;
