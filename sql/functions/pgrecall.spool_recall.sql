-- Leave a line about an answered recall for pgrecall.collect_recalls(). Not where a transaction may not write (READ
-- ONLY, a standby), and of one transaction the first hundred: a recall for each row of a table is one use, not
-- ten thousand.
create or replace function pgrecall.spool_recall(
    query text, space text, mode text, hits pgrecall.ranked_hit[], degraded text
) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    most_lines constant int := 100;
    longest_query constant int := 2000;
    told text := current_setting('pgrecall.recalls_spooled', true);
    line int := case when told ~ '^\d{1,3}$' then told::int else 0 end + 1;
    who text := memory.current_agent();
begin
    if who is null or line > most_lines or current_setting('transaction_read_only')::boolean then
        return;
    end if;
    perform set_config('pgrecall.recalls_spooled', line::text, true);
    insert into pgrecall.recall_spool (at, space, agent, query, mode, ids, lexical_hits, vector_hits, took_ms, degraded)
    select clock_timestamp(), coalesce(space, '~' || who), who, left(query, longest_query), mode,
        coalesce(array_agg(h.id order by h.rank), '{}'), count(h.lexical_rank), count(h.vector_rank),
        1000 * extract(epoch from clock_timestamp() - current_setting('pgrecall.recall_began')::timestamptz), degraded
    from unnest(hits) h;
end
$$;
