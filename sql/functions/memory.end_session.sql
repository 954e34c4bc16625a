-- End a session of the agent's own, the connection's where none is named; P0002 when it has no such open one.
create or replace function memory.end_session(session uuid default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    ended uuid := coalesce(end_session.session, pgrecall.open_session(who));
begin
    update pgrecall.sessions s set ended_at = clock_timestamp()
    where s.space = '~' || who and s.session = ended and s.ended_at is null;
    if not found then
        raise exception 'no open session %', coalesce(ended::text, 'in this connection') using errcode = 'P0002';
    end if;
    perform pgrecall.append_event(
        '~' || who, who, 'end_session', null, null, jsonb_build_object('session', ended), null);
    if ended = pgrecall.open_session(who) then
        perform set_config('pgrecall.session', '', false);
    end if;
end
$$;
grant execute on function memory.end_session(uuid) to pgrecall_agent;
