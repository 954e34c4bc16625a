-- What the vector leg can do with a query embedding. `missing` says why it can do nothing, `partial` what it does not
-- reach: during a change of the model, vectors of the coming one, or of the one that has gone, cover a part only.
create or replace function pgrecall.vectors_for(
    query_embedding text, out model text, out vector text, out missing text, out partial text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    given record := pgrecall.parse_embedding(query_embedding);
    known pgrecall.embedding_models;
    serving text;
begin
    model := given.model;
    vector := given.vector;
    if query_embedding is null then
        missing := 'no query embedding';
    elsif given.reason is not null then
        missing := given.reason;
    else
        select * into known from pgrecall.embedding_models e where e.model = given.model;
        if known.current then
            return;
        end if;
        select e.model into serving from pgrecall.embedding_models e where e.current;
        if serving is null then
            missing := 'no embedding model is in use';
        elsif known.coming then
            partial := format('%s of %s memories have no vector of model %s yet and are found by words alone',
                coalesce(known.waiting, known.total), known.total, given.model);
        elsif known.retired_at is not null then
            partial := format('the query embedding is of model %s, which %s has replaced: newer memories are found by words alone',
                given.model, serving);
        else
            missing := format('the query embedding is of model %s, the memories'' are of %s', given.model, serving);
        end if;
    end if;
end
$$;
