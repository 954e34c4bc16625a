-- Reciprocal rank fusion (Cormack et al. 2009) with a small k, plus a little of each leg's own closeness,
-- 0 to 1, to tell near-ties apart. A leg that did not find the memory adds nothing.
create or replace function pgrecall.fused_score(
    lexical_rank int, lexical_share real, vector_rank int, nearness real, rrf_k int, weights real[]
) returns real
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select (
    coalesce(weights[1], 1) * coalesce(1.0 / (rrf_k + lexical_rank) + 0.05 * lexical_share, 0)
    + coalesce(weights[2], 1) * coalesce(1.0 / (rrf_k + vector_rank) + 0.05 * nearness, 0)
)::real
$$;
