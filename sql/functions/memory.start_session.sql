-- Open a session of the agent's: what it writes from here on in this connection names it, until the session
-- ends or the connection does. `client` says what the agent runs in. Answers the session's id.
create or replace function memory.start_session(client text default null) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    who text := pgrecall.writing_agent();
    opened uuid := pgrecall.new_id();
begin
    perform pgrecall.enter_space('~' || who, who);
    insert into pgrecall.sessions (space, session, agent, client) values ('~' || who, opened, who, client);
    perform pgrecall.append_event(
        '~' || who, who, 'start_session', null, null, jsonb_build_object('session', opened), null);
    perform set_config('pgrecall.session', opened::text, false);
    return opened;
end
$$;
grant execute on function memory.start_session(text) to pgrecall_agent;
