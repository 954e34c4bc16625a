-- How much speaks for a memory, 0 to 1: 0.35 its kind of source, 0.3 its confidence, 0.2 how recent it is by its
-- half-life, 0.1 how often it was answered, 0.05 that it is pinned. What only repeats another's words has half of it.
create or replace function pgrecall.evidence(m pgrecall.memories) returns double precision
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    source constant double precision := case lower(m.metadata ->> 'source_type')
        when 'user' then 1 when 'person' then 1 when 'human' then 1
        when 'document' then 0.8 when 'file' then 0.8 when 'tool' then 0.8 when 'api' then 0.8
        when 'web' then 0.5 when 'conversation' then 0.5
        when 'model' then 0.2 when 'inference' then 0.2 when 'guess' then 0
        else case when m.source is null then 0.4 else 0.6 end
    end;
    age_days constant double precision := greatest(
        extract(epoch from now() - coalesce(m.valid_from, m.happened_at)) / 86400, 0);
    uses constant bigint := coalesce(
        (select u.uses from pgrecall.usage u where u.space = m.space and u.id = m.id), 0);
begin
    return case when m.echo_of is null then 1 else 0.5 end * (
        0.35 * source + 0.3 * m.confidence
        + 0.2 * power(0.5, least(age_days / pgrecall.half_life_days(m.kind, m.metadata), 100))
        + 0.1 * (1 - 1 / (1 + ln(1 + uses))) + 0.05 * m.pinned::int);
end
$$;
