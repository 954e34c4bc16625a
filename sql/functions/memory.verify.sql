-- Check the log, chain by chain: one's own chains, all of a space for its admins, all there are for the deployment's
-- admin. `first_bad` is the first event that is wrong or missing. `expected_head` is the hash of an event noted
-- before: the chain must still hold it.
create or replace function memory.verify(space text default null, expected_head bytea default null)
returns setof memory.verdict
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    who text := memory.current_agent();
begin
    if not exists (select from pgrecall.agents a where a.agent = who) then
        raise exception 'this session is no agent of pgrecall'
            using errcode = '42501', hint = 'Log in as an agent: pgrecall agent add NAME --sql.';
    end if;
    return query
    select v.* from pgrecall.verify_chains(
        verify.space, who, case when not pgrecall.is_admin() then pgrecall.member_spaces('admin') end, expected_head) v;
    if not found then
        raise exception 'no chain that you may verify in space %', quote_nullable(verify.space) using errcode = 'P0002';
    end if;
end
$$;
grant execute on function memory.verify(text, bytea) to pgrecall_agent, pgrecall_reader;
