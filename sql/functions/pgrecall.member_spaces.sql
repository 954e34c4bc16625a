-- The spaces that the session belongs to, at least with the role given.
create or replace function pgrecall.member_spaces(least_role text) returns text[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    who text := memory.current_agent();
begin
    return (
        select coalesce(array_agg(m.space), '{}')
        from pgrecall.members m
        where m.agent = who
            and array_position(array['reader', 'writer', 'admin'], m.role)
                >= array_position(array['reader', 'writer', 'admin'], least_role)
    );
end
$$;
grant execute on function pgrecall.member_spaces(text) to pgrecall_agent, pgrecall_reader, pgrecall_service;
