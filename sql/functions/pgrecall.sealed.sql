-- A text for a notice, readable by pgrecall.unsealed() alone: nonce, check, and the text under a key stream. A fresh
-- nonce each time, so that equal texts do not look equal. 4/3 of the text's bytes and 43 more.
create or replace function pgrecall.sealed(value text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    key bytea := (select k.key from pgrecall.notice_keys k);
    nonce bytea := uuid_send(gen_random_uuid());
    body bytea := convert_to(value, 'UTF8');
begin
    return translate(encode(
        nonce || substring(sha256(key || nonce || body) for 16) || pgrecall.under_key_stream(body, key || nonce),
        'base64'), E'\n', '');
end
$$;
