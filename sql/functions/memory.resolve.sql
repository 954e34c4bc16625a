-- Settle between memories of one space that repeat or contradict each other. `newest` keeps the one that began to
-- hold last, `evidence` the one with the most for it (see pgrecall.evidence()), `merge` one that says what all of
-- them say: `content`, or the one whose words hold the others'. What is not kept is archived, and linked to what is.
-- `both` leaves all as they are and is not asked again until one of them changes. Answers a row for each.
create or replace function memory.resolve(ids uuid[], how text default 'newest', content text default null)
returns table (id uuid, outcome text, why text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_column
declare
    who text := pgrecall.writing_agent();
    heads pgrecall.memories[] := pgrecall.heads_to_settle(resolve.ids, who);
    kept uuid;
begin
    if how is null or how not in ('newest', 'evidence', 'merge', 'both') then
        raise exception 'how must be newest, evidence, merge or both, not %', quote_nullable(how) using errcode = '22023';
    elsif resolve.content is not null and how <> 'merge' then
        raise exception 'only a merge takes a content' using errcode = '22023';
    end if;
    if how = 'both' then
        perform memory.link(one.id, two.id, 'both stand')
        from unnest(heads) one join unnest(heads) two on one.id < two.id
        where pgrecall.link_again(one.space, one.id, two.id, 'both stand');
        return query select h.id, 'kept', 'looked at, and left' from unnest(heads) h;
        return;
    end if;
    kept := pgrecall.kept_of(heads, how, resolve.content);
    return query
    select h.id, pgrecall.put_aside(h, kept, case how when 'merge' then 'merged into' else 'superseded by' end), null::text
    from unnest(heads) h where h.id <> kept order by h.id;
    if resolve.content is not null then
        perform memory.revise(kept, content => resolve.content, derived_from => array(
            select o from (
                select unnest(h.derived_from) as o from unnest(heads) h
                union select h.id from unnest(heads) h) as origins
            where o <> kept order by o));
    end if;
    return query
    select kept, case how when 'merge' then 'merged' else 'kept' end, case how
        when 'newest' then 'it began to hold last'
        when 'merge' then case when resolve.content is null then 'it says what the others say' else 'said anew' end
        else 'the most speaks for it: ' || (
            select string_agg(h.id || ' ' || round(pgrecall.evidence(h)::numeric, 2), ', ' order by pgrecall.evidence(h) desc, h.id)
            from unnest(heads) h)
        end;
end
$$;
grant execute on function memory.resolve(uuid[], text, text) to pgrecall_agent;
