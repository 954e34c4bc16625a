-- Who may read a memory whose head this is: by its visibility, by shares of it, by delegations.
create or replace function pgrecall.readers_now(m pgrecall.memories) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return pgrecall.with_tokens(
        pgrecall.readers_of(m.agent, m.space, m.visibility),
        pgrecall.delegation_tokens(m.agent, m.space, m.kind, m.tags) || case
            when exists (select from pgrecall.memory_shares s where s.space = m.space and s.id = m.id)
            then array['share:' || m.id::text] else '{}' end);
end
$$;
