-- Store a draft for the session's agent: a new memory, a refinement of the one its key names, or,
-- said in the same words before, the memory that stands. What looks like an instruction to its readers is held
-- for review. Every writing road ends here.
create or replace function pgrecall.write_memory(draft pgrecall.draft) returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    who text := pgrecall.writing_agent();
    target text := coalesce(draft.space, '~' || who);
    seen text := coalesce(draft.visibility, case when target = '~' || who then 'private' else 'shared' end);
    -- Whose key and words a memory may repeat: a private one is its owner's alone.
    owner text := case seen when 'private' then who else '' end;
    head pgrecall.memories;
    fresh pgrecall.memories;
    why pgrecall.suspicion;
begin
    perform pgrecall.check_draft(draft);
    perform pgrecall.enter_space(target, who);
    -- A delegation that is being made waits for what is being written, and this for it.
    perform from pgrecall.agents a where a.agent = who for key share;
    -- Two rounds at most meet one concurrent writer; each later one means yet another was first.
    loop
        if draft.key is not null then
            select * into head from pgrecall.memories m
            where m.space = target and m.key = draft.key
                and m.key_owner = owner
                and m.superseded_at is null and m.archived_at is null
            for update;
            if found and not pgrecall.retired(head) then
                return pgrecall.refine(head, draft, who);
            end if;
        end if;
        fresh := pgrecall.drafted(draft, who, target, seen);
        fresh.readers := fresh.readers || pgrecall.delegation_tokens(who, target, fresh.kind, fresh.tags);
        why := pgrecall.suspicion_of(fresh, who);
        -- Where the same words stand, somebody has let them in.
        if why.score is not null and not exists (
            select from pgrecall.memories m
            where m.space = target and m.agent = who and m.key_owner = owner and m.identity_hash = fresh.identity_hash
                and m.superseded_at is null and m.archived_at is null)
        then
            return pgrecall.hold_version(fresh, who, why);
        elsif why.score is null and pgrecall.insert_version(fresh) then
            perform pgrecall.append_event(target, who, 'remember', fresh.id, 1, '{}', pgrecall.commitment(fresh));
            perform pgrecall.feed_baseline(target, who, array[fresh]);
            perform pgrecall.embed_version(fresh, draft.query_embedding);
            return (target, fresh.id, 1, 'created'::text);
        end if;
        select * into head from pgrecall.memories m
        where m.space = target and m.agent = who and m.key_owner = owner and m.identity_hash = fresh.identity_hash
            and m.superseded_at is null and m.archived_at is null
        for update;
        if found and not pgrecall.retired(head) then
            return (target, head.id, head.version, 'repeated'::text);
        end if;
    end loop;
end
$$;
