-- Append one change to its chain. The chain's head row is the lock: writers of other chains do not wait.
create or replace function pgrecall.append_event(
    target text, who text, action text, id uuid, version int, payload jsonb, commitment bytea
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.chain_heads;
    happened timestamptz;
    linked bytea;
begin
    select * into head from pgrecall.chain_heads h where h.space = target and h.agent = who for update;
    if not found then
        insert into pgrecall.chain_heads values (target, who, 0, sha256('')) on conflict do nothing;
        select * into head from pgrecall.chain_heads h where h.space = target and h.agent = who for update;
    end if;
    happened := clock_timestamp();
    linked := pgrecall.event_hash(
        head.hash, target, who, head.sequence + 1, happened, action, id, version, payload, commitment);
    insert into pgrecall.events
    values (target, who, head.sequence + 1, happened, action, id, version, payload, commitment, head.hash, linked);
    update pgrecall.chain_heads h set sequence = head.sequence + 1, hash = linked
    where h.space = target and h.agent = who;
end
$$;
