-- Append one change to its chain. The chain's head row is the lock: writers of other chains do not wait.
create or replace function pgrecall.append_event(
    target text, who text, action text, id uuid, version int, payload jsonb, commitment bytea
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.chain_heads;
    happened timestamptz := clock_timestamp();
begin
    loop
        update pgrecall.chain_heads h
        set sequence = h.sequence + 1, previous_hash = h.hash, hash = pgrecall.event_hash(
            h.hash, target, who, h.sequence + 1, happened, action, id, version, payload, commitment)
        where h.space = target and h.agent = who
        returning * into head;
        exit when found;
        insert into pgrecall.chain_heads values (target, who, 0, '', sha256('')) on conflict do nothing;
    end loop;
    insert into pgrecall.events
    values (target, who, head.sequence, happened, action, id, version, payload, commitment,
        head.previous_hash, head.hash);
end
$$;
