-- The text that pgrecall.sealed() sealed; null for what is none of ours, such as a notice that an agent sent.
create or replace function pgrecall.unsealed(notice text) returns text
language plpgsql stable strict security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    key bytea := (select k.key from pgrecall.notice_keys k);
    sealed bytea;
    body bytea;
begin
    if notice !~ '^[A-Za-z0-9+/]{43,}={0,2}$' or length(notice) % 4 <> 0 then
        return null;
    end if;
    sealed := decode(notice, 'base64');
    body := pgrecall.under_key_stream(substring(sealed from 33), key || substring(sealed for 16));
    if substring(sha256(key || substring(sealed for 16) || body) for 16) <> substring(sealed from 17 for 16) then
        return null;
    end if;
    return convert_from(body, 'UTF8');
end
$$;
grant execute on function pgrecall.unsealed(text) to pgrecall_service;
