-- The ways in which a text may be read: as it stands, and undone what writers do to hide words from a filter.
create or replace function pgrecall.readings(value text) returns table (how text, body text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    plain text := pgrecall.visible_text(value);
    letters constant text := 'abcdefghijklmnopqrstuvwxyz';
    joined text;
    telling constant text[] := array['%ignore%', '%instruct%', '%system%', '%password%', '%previous%', '%reveal%', '%always%'];
    inner_run record;
begin
    return query values ('plain', plain);
    if octet_length(plain) > length(plain) and plain ~ '[a-z][а-яіјѕԁα-ω]|[а-яіјѕԁα-ω][a-z]' then
        return query values ('look-alike letters', translate(plain, 'аеорсухікмнтвјѕԁαορνικτ', 'aeopcyxikmhtbjsdaopvikt'));
    end if;
    if translate(plain, '013457@$!', '') <> plain and plain ~ '[a-z][013457@$!]+[a-z]' then
        return query values ('digits for letters', translate(plain, '013457@$!', 'oieastasi'));
    end if;
    if value ~ '(?:\m[[:alpha:]][ .*_-]){4}' then
        return query values ('spaced-out letters', pgrecall.visible_text(
            regexp_replace(value, '(?<=\m[[:alpha:]])[ .*_-](?=[[:alpha:]]\M)', '', 'g')));
    end if;
    joined := replace(plain, '-', '');
    if length(plain) - length(joined) >= 2 and joined like any (telling) and not plain like any (telling) then
        return query values ('hyphenated words', joined);
    end if;
    if plain like any (array['%vtaber%', '%vafgehpg%', '%flfgrz%', '%nyjnlf%', '%lbhe %', '%cnffjbeq%']) then
        return query values ('rot13', translate(plain, letters, substr(letters, 14) || left(letters, 13)));
    end if;
    if octet_length(plain) > length(plain) and plain ~ '[\u3040-\u30ff\u4e00-\u9fff] [\u3040-\u30ff\u4e00-\u9fff] ' then
        return query values ('spaced-out characters', replace(plain, ' ', ''));
    end if;
    if plain like any (array['%snoitcurts%', '%erongi%', '%metsys%', '%drowssap%']) then
        return query values ('backwards', reverse(plain));
    end if;
    for inner_run in select r.how, r.body from pgrecall.decoded_runs(value) r loop
        return query values (inner_run.how, pgrecall.visible_text(inner_run.body));
        -- Encoded twice.
        return query select r.how, pgrecall.visible_text(r.body) from pgrecall.decoded_runs(inner_run.body) r;
    end loop;
end
$$;
