-- Append a `remember` event for each new memory of one space, in the order given, and move the chain's head
-- once: for a batch the same as append_event() one by one, in half the time.
create or replace function pgrecall.append_remembered(target text, who text, fresh pgrecall.memories[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    head pgrecall.chain_heads;
    one pgrecall.memories;
    committed bytea;
    appended pgrecall.events[];
    happened timestamptz;
begin
    insert into pgrecall.chain_heads values (target, who, 0, '', sha256('')) on conflict do nothing;
    select * into head from pgrecall.chain_heads h where h.space = target and h.agent = who for update;
    foreach one in array fresh loop
        happened := clock_timestamp();
        committed := pgrecall.commitment(one);
        head.previous_hash := head.hash;
        head.sequence := head.sequence + 1;
        head.hash := pgrecall.event_hash(
            head.previous_hash, target, who, head.sequence, happened, 'remember', one.id, one.version, '{}', committed);
        appended := appended || row(
            target, who, head.sequence, happened, 'remember', one.id, one.version, '{}', committed,
            head.previous_hash, head.hash)::pgrecall.events;
    end loop;
    insert into pgrecall.events select e.* from unnest(appended) e;
    update pgrecall.chain_heads h
    set sequence = head.sequence, previous_hash = head.previous_hash, hash = head.hash
    where h.space = target and h.agent = who;
end
$$;
