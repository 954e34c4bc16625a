-- The memories whose meaning is nearest, best first. A small visible set is measured whole, and so is whatever
-- the index could not fill. The index holds heads: the past versions of a large set are measured beside it.
create or replace function pgrecall.vector_leg(with_model text, vector text, s pgrecall.scope, pool int)
returns setof pgrecall.vector_hit
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
as $$
declare
    size int;
    hits pgrecall.vector_hit[];
begin
    if pgrecall.index_pays(s.visible, pool) then
        size := (select e.dimension from pgrecall.embedding_models e where e.model = with_model);
        hits := array(select h from pgrecall.nearest_indexed(with_model, size, vector, s, pool) h);
        if cardinality(hits) >= pool and (s.as_of is not null or s.superseded)
            and not pgrecall.late('the past versions'' vectors')
        then
            hits := pgrecall.nearer(hits, pgrecall.nearest_past(with_model, vector, s, pool), pool);
        elsif cardinality(hits) < pool and (cardinality(hits) = 0 or not pgrecall.late('the exact search')) then
            hits := pgrecall.nearest_sliced(with_model, vector, s, pool);
        end if;
    else
        hits := array(select h from pgrecall.nearest_exact(with_model, vector, s, pool) h);
    end if;
    return query select h.* from unnest(hits) h;
end
$$;
