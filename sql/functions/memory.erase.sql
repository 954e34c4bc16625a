-- Erase all that fits every criterion given, and what was made of it: no row is left that holds anything of it but
-- the fact, in the log, that it was. Answers how many rows of each table go; with `preview` they stay. `kept` are
-- memories that fit and that one sees, but may not erase; `echoes` others that say the same words and stay.
create or replace function memory.erase(
    ids uuid[] default null, space text default null, key text default null, tag text default null,
    agent text default null, session uuid default null, source text default null, preview boolean default false
) returns setof memory.erased
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- Bodies are read when they first run, by the session's rules for backslashes.
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    targets pgrecall.erasure[];
begin
    if num_nonnulls(ids, key, tag, agent, session, source) = 0 then
        raise exception 'say what to erase' using errcode = '22023',
            hint = 'By ids, key, tag, agent, session or source; space narrows them down.';
    end if;
    targets := array(select e from pgrecall.erasures(ids, space, key, tag, agent, session, source, who) e);
    if not coalesce(preview, false) then
        -- Whoever writes a version of one of them now comes first, or finds it gone.
        perform from unnest(targets) t
            join pgrecall.memories m on m.space = t.space and m.id = t.id and m.superseded_at is null
        order by m.space, m.id
        for update of m;
    end if;
    return query select r.what, r.rows from pgrecall.erasure_report(targets) r;
    return query select o.what, o.rows from pgrecall.left_behind(
        targets, ids, space, key, tag, agent, session, source) o;
    if not coalesce(preview, false) and targets <> '{}' then
        perform pgrecall.erase_rows(targets, who);
    end if;
end
$$;
grant execute on function memory.erase to pgrecall_agent;
