-- How far a text lies from what the agent writes in the space: the root mean square of its features' distances
-- from their means, in standard deviations. Null until thirty texts are known.
create or replace function pgrecall.strangeness(target text, who text, value text) returns real
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- No feature is so steady that less than this would count.
    least_spread constant double precision[] := '{0.4,0.05,0.02,0.05,1.5,0.02,0.3}';
    known pgrecall.baselines;
begin
    select * into known from pgrecall.baselines b where b.space = target and b.agent = who;
    if not found or known.texts < 30 then
        return null;
    end if;
    return (
        select sqrt(avg(least(abs(f.x - f.sum / known.texts) / greatest(
            sqrt(greatest(f.square / known.texts - (f.sum / known.texts) ^ 2, 0)), f.least), 12) ^ 2))
        from unnest(pgrecall.text_features(value), known.sums, known.squares, least_spread)
            as f(x, sum, square, least));
end
$$;
