-- The session's agent, for a write; raises 42501 when there is none or it only reads.
create or replace function pgrecall.writing_agent() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    who text := memory.current_agent();
    known pgrecall.agents;
begin
    select * into known from pgrecall.agents a where a.agent = who;
    if not found then
        raise exception 'this session is no agent of pgrecall'
            using errcode = '42501', hint = 'Log in as an agent: pgrecall agent add NAME --sql.';
    elsif known.reader then
        raise exception 'agent "%" only reads', who using errcode = '42501';
    end if;
    return who;
end
$$;
