-- The session that this connection has open for the agent; null where there is none, or it is somebody else's.
create or replace function pgrecall.open_session(who text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    named text := nullif(current_setting('pgrecall.session', true), '');
begin
    if named is null or not pg_input_is_valid(named, 'uuid') then
        return null;
    end if;
    return (
        select s.session from pgrecall.sessions s
        where s.space = '~' || who and s.session = named::uuid and s.ended_at is null);
end
$$;
