-- The memories whose meaning is nearest, best first. A small visible set is measured whole, and so are
-- past versions and whatever the index could not fill; only a large set of heads goes through the index.
create or replace function pgrecall.vector_leg(with_model text, vector text, s pgrecall.scope, pool int)
returns setof pgrecall.vector_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    exact_limit constant int := 2000;
    size int := (select e.dimension from pgrecall.embedding_models e where e.model = with_model);
    hits pgrecall.vector_hit[];
    visible int;
begin
    if s.as_of is null and not s.superseded then
        select count(*) into visible
        from (select from pgrecall.memories m where pgrecall.in_scope(m, s) limit exact_limit + 1) as seen;
        if visible > exact_limit then
            hits := array(select h from pgrecall.nearest_indexed(with_model, size, vector, s, pool) h);
        end if;
    end if;
    if coalesce(cardinality(hits), 0) < pool then
        hits := array(select h from pgrecall.nearest_exact(with_model, size, vector, s, pool) h);
    end if;
    return query select h.* from unnest(hits) h;
end
$$;
