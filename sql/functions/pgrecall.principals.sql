-- What the session may read as: itself, everyone, each space it belongs to, each space that it administers, each
-- delegation that it holds; what is shared with it by itself stands in pgrecall.shared_ids(). What expires does so
-- between two statements of one transaction too.
create or replace function pgrecall.principals() returns text[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    who text := memory.current_agent();
begin
    -- Delegations last: there may be many, and a row's readers are compared with each in turn.
    return (
        select coalesce(array_agg(found.principal order by found.place), '{}')
        from (
            select unnest(array['*', 'agent:' || a.agent]) as principal, 1 as place
            from pgrecall.agents a where a.agent = who
            union all
            select 'space:' || m.space, 2 from pgrecall.members m where m.agent = who
            union all
            select 'admin:' || m.space, 3 from pgrecall.members m where m.agent = who and m.role = 'admin'
            union all
            select distinct d.token, 4 from pgrecall.delegations d
            where d.agent = who and coalesce(d.expires_at, 'infinity') > statement_timestamp()
        ) as found
    );
end
$$;
grant execute on function pgrecall.principals() to pgrecall_agent, pgrecall_reader, pgrecall_service;
