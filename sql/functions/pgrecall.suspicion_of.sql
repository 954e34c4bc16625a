-- Why a version that is about to be written has to wait for a reviewer; null when it may pass. What comes from a
-- foreign source waits sooner. A text unlike its agent's own only adds to other signs, unless it is very unlike
-- them and foreign.
create or replace function pgrecall.suspicion_of(m pgrecall.memories, who text) returns pgrecall.suspicion
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    value text := pgrecall.written_text(m);
    trusted boolean := pgrecall.source_is_trusted(m.metadata, m.source);
    found pgrecall.suspicion := (0, '{}');
    strangeness real;
    added real;
begin
    if not trusted or pgrecall.may_be_suspicious(value) then
        found := pgrecall.text_suspicion(value);
    end if;
    if found.score = 0 and trusted then
        return null;
    end if;
    strangeness := pgrecall.strangeness(m.space, who, value);
    added := case when strangeness >= 7 and not trusted then 0.6 when strangeness >= 3.5 then 0.2 end;
    if added is not null then
        found := ((1 - (1 - found.score) * (1 - added))::real,
            found.reasons || 'unlike what the agent writes'::text);
    end if;
    return case when found.score >= case when trusted then 0.75 else 0.5 end::real then found end;
end
$$;
