-- How a text is written, in numbers whose mean and spread tell one agent's hand from another's: length, scripts,
-- code, digits, length of words, address and command, links. Reckoned without regular expressions: every write pays.
create or replace function pgrecall.text_features(value text) returns double precision[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    looked_at text := lower(left(value, 4000));
    size double precision := greatest(length(looked_at), 1);
begin
    return array[
        ln(length(value) + 1),
        (octet_length(looked_at) - length(looked_at)) / size,
        (length(looked_at) - length(translate(looked_at, '{}<>[]/\=_|&$#@*;"', ''))) / size,
        (length(looked_at) - length(translate(looked_at, '0123456789', ''))) / size,
        size / (1 + length(looked_at) - length(replace(looked_at, ' ', ''))),
        (3 * length(looked_at) - length(replace(looked_at, 'you', '')) - length(replace(looked_at, 'must', ''))
            - length(replace(looked_at, 'never', ''))) / size,
        (length(looked_at) - length(replace(looked_at, '://', ''))) / 3];
end
$$;
