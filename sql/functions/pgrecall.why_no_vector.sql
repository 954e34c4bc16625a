-- Why the vector leg can't serve this query embedding; null when it can.
create or replace function pgrecall.why_no_vector(query_embedding text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    given record := pgrecall.parse_embedding(query_embedding);
    known text := (select e.model from pgrecall.embedding_models e where e.current);
begin
    return case
        when query_embedding is null then 'no query embedding'
        when given.reason is not null then given.reason
        when known is null then 'no embedding model is in use'
        when given.model <> known
            then format('the query embedding is of model %s, the memories'' are of %s', given.model, known)
    end;
end
$$;
