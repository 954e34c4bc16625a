-- Refuse arguments that recall() can't serve, saying which and what was given (22023).
create or replace function pgrecall.check_recall(
    query text, k int, skip int, kinds text[], mode text, rrf_k int, weights real[], include text[], branch text
) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    complaint text := case
        when query is null then 'query must not be null'
        when length(query) > 100000 then format('query must be at most 100000 characters, not %s', length(query))
        when k is null or k not between 1 and 1000 then format('k must be between 1 and 1000, not %s', coalesce(k::text, 'null'))
        when skip is null or skip not between 0 and 10000
            then format('skip must be between 0 and 10000, not %s', coalesce(skip::text, 'null'))
        when not kinds <@ array['episodic', 'semantic', 'procedural', 'resource', 'strategic', 'identity']
            then format('kinds may hold episodic, semantic, procedural, resource, strategic and identity, not %s', kinds)
        when mode is null or mode not in ('hybrid', 'lexical', 'vector', 'exact')
            then format('mode must be hybrid, lexical, vector or exact, not %L', mode)
        when rrf_k not between 1 and 10000 then format('rrf_k must be between 1 and 10000, not %s', rrf_k)
        when cardinality(weights) not between 1 and 4 or array_position(weights, null) is not null or 0 > any (weights)
            then format('weights must be one to four numbers from 0 up (lexical, vector, recency, graph), not %s', weights)
        when not include <@ array['superseded', 'archived', 'quarantined']
            then format('include may hold superseded, archived and quarantined, not %s', include)
        when branch <> 'main' then format('branch %L does not exist', branch)
    end;
begin
    if complaint is not null then
        raise exception '%', complaint using errcode = '22023';
    end if;
end
$$;
