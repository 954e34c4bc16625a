-- By how much a memory's worth moves its relevance: importance by 4 % up or down, confidence from -3.2 to
-- +0.8 %, pinned +3 %, age down to -3 %. In all 0.901 to 1.080, so a memory of more than 1.2 times another's
-- relevance is never put below it. The defaults (0.5, 0.8, not pinned), written today, are 1. Age counts in
-- whole days, so that what was written together is of one age; what is pinned does not age.
create or replace function pgrecall.ranking_factors(
    importance real, confidence real, pinned boolean, kind text, metadata jsonb, happened_at timestamptz, at timestamptz
) returns pgrecall.factors
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Seconds, because an infinite time can't be subtracted before Postgres 17.
    age double precision := floor(greatest(0, date_part('epoch', at) - date_part('epoch', happened_at)) / 86400);
    freshness double precision := case
        when pinned or age = 0 then 1
        -- A thousandth is nothing; power() would refuse to go on for ever.
        else power(0.5, least(least(age, 1e7) / pgrecall.half_life_days(kind, metadata), 10))
    end;
begin
    return row(
        1 + 0.08::real * (importance - 0.5::real),
        1 + 0.04::real * (confidence - 0.8::real),
        case when pinned then 1.03 else 1 end,
        0.97 + 0.03 * freshness)::pgrecall.factors;
end
$$;
