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
    return (
        select coalesce(array_agg(distinct found.principal), '{}')
        from (
            select unnest(array['*', 'agent:' || a.agent]) as principal
            from pgrecall.agents a where a.agent = who
            union all
            select 'space:' || m.space from pgrecall.members m where m.agent = who
            union all
            select 'admin:' || m.space from pgrecall.members m where m.agent = who and m.role = 'admin'
            union all
            select d.token from pgrecall.delegations d
            where d.agent = who and coalesce(d.expires_at, 'infinity') > statement_timestamp()
        ) as found
    );
end
$$;
grant execute on function pgrecall.principals() to pgrecall_agent, pgrecall_reader, pgrecall_service;
