-- A text as a reader takes it in, in lower case: compatibility forms folded, what can't be seen taken out,
-- typographic quotes and dashes plain, blanks single. Lines stay lines.
create or replace function pgrecall.visible_text(value text) returns text
language plpgsql immutable parallel safe strict
set search_path = pg_catalog, pg_temp
as $$
declare
    seen text := value;
begin
    if octet_length(seen) > length(seen) then
        seen := regexp_replace(
            seen, '[\u00ad\u034f\u0336\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ff]',
            '', 'g');
        seen := regexp_replace(normalize(seen, nfkd), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g');
        seen := translate(normalize(seen, nfkc), 'ёЁ«»„“”‘’‚—–−…', 'еЕ""""""''''---.');
    end if;
    seen := translate(lower(seen), E'\t\r\f\v\u00a0', '     ');
    while strpos(seen, '  ') > 0 loop
        seen := replace(seen, '  ', ' ');
    end loop;
    if strpos(seen, E'\n') > 0 then
        seen := replace(replace(seen, E' \n', E'\n'), E'\n ', E'\n');
        while strpos(seen, E'\n\n') > 0 loop
            seen := replace(seen, E'\n\n', E'\n');
        end loop;
    end if;
    return seen;
end
$$;
