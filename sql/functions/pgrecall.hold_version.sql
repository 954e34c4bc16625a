-- Put a version into quarantine in place of the memories, say so in the log and to the writer. The same words
-- held already stay held once.
create or replace function pgrecall.hold_version(held pgrecall.memories, who text, why pgrecall.suspicion)
returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    standing pgrecall.quarantine;
begin
    insert into pgrecall.quarantine (space, id, version, agent, memory, identity_hash, score, reasons, at)
    values (held.space, held.id, held.version, who, to_jsonb(held), held.identity_hash, why.score, why.reasons,
        held.created_at)
    on conflict do nothing;
    if found then
        perform pgrecall.append_event(
            held.space, who, 'quarantine', held.id, held.version,
            jsonb_build_object('score', round(why.score::numeric, 3), 'reasons', why.reasons), pgrecall.commitment(held));
    else
        select * into strict standing from pgrecall.quarantine q
        where q.space = held.space and q.agent = who and q.identity_hash = held.identity_hash;
        held.id := standing.id;
        held.version := standing.version;
        why.reasons := standing.reasons;
    end if;
    raise notice 'memory % is held for review and can''t be recalled until it is released', held.id
        using detail = array_to_string(why.reasons, '; '),
            hint = 'An admin of the space decides: SELECT * FROM memory.quarantine.';
    return (held.space, held.id, held.version, 'quarantined'::text);
end
$$;
