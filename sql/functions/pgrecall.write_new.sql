-- Store drafts without keys for the session's agent, all in a few statements: the bulk of a batch. Answers a
-- row for each draft, by its place; one whose words stand already is 'repeated', as write_memory() has it.
create or replace function pgrecall.write_new(drafts pgrecall.draft[])
returns table (number int, id uuid, version int, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    who text := pgrecall.writing_agent();
    fresh pgrecall.memories[];
    passed pgrecall.memories[];
    made pgrecall.memories[];
begin
    perform pgrecall.check_draft(d) from unnest(drafts) d;
    perform pgrecall.enter_space(t.space, who)
    from (select distinct coalesce(d.space, '~' || who) as space from unnest(drafts) d order by 1) as t;
    -- A delegation that is being made waits for what is being written, and this for it.
    perform from pgrecall.agents a where a.agent = who for key share;
    fresh := array(
        select pgrecall.drafted(
            row(d.*)::pgrecall.draft, who, coalesce(d.space, '~' || who),
            coalesce(d.visibility, case when coalesce(d.space, '~' || who) = '~' || who then 'private' else 'shared' end))
        from unnest(drafts) d);
    -- Asked once: row by row it would cost a batch a twentieth.
    if exists (select from pgrecall.delegations d where d.owner = who) then
        for number in 1 .. cardinality(fresh) loop
            fresh[number].readers := pgrecall.readers_now(fresh[number]);
        end loop;
    end if;
    passed := fresh;
    if exists (select from unnest(fresh) f where pgrecall.suspicion_of(f, who) is not null) then
        passed := array(select f from unnest(fresh) f where pgrecall.suspicion_of(f, who) is null);
    end if;
    made := array(select m from pgrecall.insert_versions(passed) m);
    perform pgrecall.append_remembered(g.space, who, g.memories), pgrecall.feed_baseline(g.space, who, g.memories)
    from (
        select m.space, array_agg(m order by m.created_at, m.id) as memories from unnest(made) m
        group by m.space order by m.space) as g;
    perform pgrecall.queue_versions(made);
    for number, id, version in
        select f.ordinality, m.id, m.version
        from unnest(fresh) with ordinality f left join unnest(made) m on m.id = f.id
        order by f.ordinality
    loop
        outcome := 'created';
        if id is null then
            -- The few that did not go in take the road of single writes, which finds out why, or holds them.
            select w.id, w.version, w.outcome into id, version, outcome from pgrecall.write_memory(drafts[number]) w;
        end if;
        return next;
    end loop;
end
$$;
