-- The memories whose meaning is nearest, best first. A small visible set is measured whole, and so are
-- past versions and whatever the index could not fill; only a large set of heads goes through the index.
create or replace function pgrecall.vector_leg(with_model text, vector text, s pgrecall.scope, pool int)
returns setof pgrecall.vector_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
as $$
declare
    exact_limit constant real := 10000;
    size int := (select e.dimension from pgrecall.embedding_models e where e.model = with_model);
    hits pgrecall.vector_hit[];
begin
    if s.visible > exact_limit and s.as_of is null and not s.superseded then
        hits := array(select h from pgrecall.nearest_indexed(with_model, size, vector, s, pool) h);
    end if;
    if coalesce(cardinality(hits), 0) < pool then
        hits := array(select h from pgrecall.nearest_exact(with_model, size, vector, s, pool) h);
    end if;
    return query select h.* from unnest(hits) h;
end
$$;
