-- Signs of characters that a reader does not see and a model does. What scripts and emoji need is no sign:
-- joiners between letters of scripts that join, a variation selector behind its emoji, the tags of a flag.
create or replace function pgrecall.hidden_signals(value text) returns setof pgrecall.signal
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    amid int;
begin
    if octet_length(value) = length(value)
        or value !~ '[\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ff]'
    then
        return;
    end if;
    if regexp_replace(value, '\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f', '', 'g') ~ '[\U000e0001-\U000e007f]{3}' then
        return query values ('hidden text in tag characters'::text, 0.9::real);
    end if;
    if value ~ '[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}' then
        return query values ('hidden text in variation selectors'::text, 0.9::real);
    end if;
    if value ~ '[\u200b-\u200f\u2060-\u2064\ufeff\u180e]{8}' then
        return query values ('hidden text in zero-width characters'::text, 0.9::real);
    end if;
    amid := regexp_count(value, '(?<=[A-Za-zА-Яа-яЁё])[\u200b-\u200f\u2060-\u2064\ufeff\u180e](?=[A-Za-zА-Яа-яЁё])');
    if amid >= 3 then
        return query values ('zero-width characters inside words'::text, case when amid >= 8 then 0.65 else 0.45 end::real);
    end if;
    if value ~ '[\u202d\u202e]' then
        return query values (
            'text direction overridden'::text, case when value ~ '[\u0590-\u08ff]' then 0.45 else 0.65 end::real);
    end if;
end
$$;
