-- The symbol of a word with digits in it: 3, 3th, 3-10, 2024, 2024-05-03, ym2024-05, q2, yq2024q2; null for any other.
create or replace function pgrecall.date_number(word text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    part text[];
begin
    if word ~ '^([12]\d{3}|\d{1,3}|\d{1,2}[-–]\d{1,2}|q[1-4])$' then
        return replace(word, '–', '-');
    end if;
    part := regexp_match(word, '^(\d{1,2})(?:st|nd|rd|th|-?го|-?е|-?м|-?ое)$');
    if part is not null then
        return part[1] || 'th';
    end if;
    part := regexp_match(word, '^((?:19|20)\d\d)[-/](0[1-9]|1[012])(?:[-/](0[1-9]|[12]\d|3[01]))?$');
    if part is not null then
        return case when part[3] is null then 'ym' else '' end || concat_ws('-', part[1], part[2], part[3]);
    end if;
    part := regexp_match(word, '^(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[012])\.((?:19|20)\d\d)$');
    if part is not null then
        return concat_ws('-', part[3], lpad(part[2], 2, '0'), lpad(part[1], 2, '0'));
    end if;
    if word ~ '^(?:\d{4}-?q[1-4]|q[1-4][-/]\d{4})$' then
        return 'yq' || substring(word from '(?:19|20)\d\d') || substring(word from 'q\d');
    end if;
    return null;
end
$$;
