-- Reciprocal rank fusion (Cormack et al. 2009) with a small k, and beside it how close the memory comes to
-- each leg's best, 0 to 1: ranks alone lose what a clear winner is worth, closeness alone trusts one leg's
-- scale. A leg that did not find the memory adds nothing. Weights and exponent: bench/retrieval, five sets.
-- In `return` form the planner writes it into the query; all in float8, where numeric takes ten times as long.
create or replace function pgrecall.fused_score(
    lexical_rank int, lexical_closeness real, vector_rank int, vector_closeness real, rrf_k int, weights real[]
) returns real
language sql immutable parallel safe
return (
    coalesce(weights[1], 1)
        * coalesce(1::float8 / (rrf_k + lexical_rank) + 0.6::float8 * power(lexical_closeness::float8, 1.5::float8), 0)
    + coalesce(weights[2], 1)
        * coalesce(1::float8 / (rrf_k + vector_rank) + 0.4::float8 * power(vector_closeness::float8, 1.5::float8), 0)
)::real;
