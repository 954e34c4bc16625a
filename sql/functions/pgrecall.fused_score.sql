-- Reciprocal rank fusion (Cormack et al. 2009) with a small k, and beside it how close the memory comes to
-- each leg's best, 0 to 1: ranks alone lose what a clear winner is worth, closeness alone trusts one leg's
-- scale. A leg that did not find the memory adds nothing. Weights and exponent: bench/retrieval, five sets.
create or replace function pgrecall.fused_score(
    lexical_rank int, lexical_closeness real, vector_rank int, vector_closeness real, rrf_k int, weights real[]
) returns real
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select (
    coalesce(weights[1], 1) * coalesce(1.0 / (rrf_k + lexical_rank) + 0.6 * power(lexical_closeness, 1.5), 0)
    + coalesce(weights[2], 1) * coalesce(1.0 / (rrf_k + vector_rank) + 0.4 * power(vector_closeness, 1.5), 0)
)::real
$$;
