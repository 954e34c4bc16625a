-- In how many days a memory's recency halves: as its metadata says, else by its kind; infinite for what it is.
create or replace function pgrecall.half_life_days(kind text, metadata jsonb) returns double precision
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    own jsonb := metadata -> 'half_life_days';
begin
    -- Written before this was checked, it may be anything.
    if jsonb_typeof(own) = 'number' and own::numeric between 0.01 and 36500 then
        return own::double precision;
    end if;
    return case kind
        when 'episodic' then 30::double precision
        when 'resource' then 180
        when 'procedural' then 730
        when 'identity' then 'infinity'
        else 365
    end;
end
$$;
