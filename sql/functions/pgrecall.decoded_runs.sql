-- What the encoded runs of a text say, each kind of encoding joined to one text.
create or replace function pgrecall.decoded_runs(value text) returns table (how text, body text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if value ~ '[A-Za-z0-9+/_-]{16}' then
        return query
        select f.format, string_agg(d.plain, E'\n' order by r.number)
        from regexp_matches(value, '[A-Za-z0-9+/_-]{16,}', 'g') with ordinality as r(run, number)
        cross join (values ('base64'), ('hex')) as f(format)
        cross join lateral pgrecall.decoded_bytes(r.run[1], f.format) as d(plain)
        group by f.format
        having count(d.plain) > 0;
    end if;
    if value ~ '(?:(?:0x|\\x|%|\m)[0-9A-Fa-f]{2}[ :,]?){6}' then
        return query
        select 'hex', d.plain
        from (select string_agg(r.run[1], '') as run
            from regexp_matches(value, '(?:0x|\\x|%|\m)([0-9A-Fa-f]{2})(?![A-Za-z])', 'g') as r(run)) as joined
        cross join lateral pgrecall.decoded_bytes(joined.run, 'hex') as d(plain)
        where d.plain is not null;
    end if;
    if value like any (array['%\\u%\\u%\\u%', '%&#%&#%&#%', '%01______ 0%']) then
        return query
        select 'character codes', string_agg(chr(c.code), '' order by c.number)
        from (
            select case when r.run[1] is not null then ('x' || lpad(r.run[1], 8, '0'))::bit(32)::int
                    when r.run[2] is not null then ('x' || lpad(r.run[2], 8, '0'))::bit(32)::int
                    when r.run[3] is not null then r.run[3]::int
                    else r.run[4]::bit(8)::int end as code, r.number
            from regexp_matches(
                value, '\\u([0-9A-Fa-f]{4})|&#x([0-9A-Fa-f]{2,5});|&#([0-9]{2,6});|\m([01]{8})\M', 'g')
                with ordinality as r(run, number)
        ) as c
        where c.code between 9 and 55295 or c.code between 57344 and 1114111
        having count(*) > 0;
    end if;
    if value ~ '(?:[.-]{1,5}[ /]+){12}' then
        return query
        select 'Morse code', string_agg(coalesce(pgrecall.morse_letter(r.code), ' '), '' order by r.number)
        from regexp_split_to_table(value, ' ') with ordinality as r(code, number);
    end if;
    -- Tag characters are ASCII moved up.
    if octet_length(value) > length(value) and value ~ '[\U000e0020-\U000e007e]{3}' then
        return query
        select 'tag characters', string_agg(chr(ascii(r.run[1]) - 917504), '' order by r.number)
        from regexp_matches(value, '[\U000e0020-\U000e007e]', 'g') with ordinality as r(run, number);
    end if;
end
$$;
