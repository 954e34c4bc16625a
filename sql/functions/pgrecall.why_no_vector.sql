-- Why the vector leg can't serve this query embedding, or not wholly; null when it can.
create or replace function pgrecall.why_no_vector(query_embedding text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    given record := pgrecall.vectors_for(query_embedding);
begin
    return coalesce(given.missing, given.partial);
end
$$;
