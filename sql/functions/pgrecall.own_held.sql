-- What an agent's writes left in quarantine, for the answer to that write alone.
create or replace function pgrecall.own_held(who text, ids uuid[], versions int[])
returns table (id uuid, version int, memory jsonb, score real, reasons text[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select q.id, q.version,
        -- Of what the memory was made of, and what it echoes, the writer may see less than stands there.
        q.memory - array['derived_from', 'echo_of'] || jsonb_build_object(
            'written_by', q.agent, 'source_type', q.memory -> 'metadata' ->> 'source_type'),
        q.score, q.reasons
    from unnest(ids, versions) as w(id, version)
    join pgrecall.quarantine q on q.id = w.id and q.version = w.version and q.agent = who;
end
$$;
grant execute on function pgrecall.own_held(text, uuid[], int[]) to pgrecall_service;
