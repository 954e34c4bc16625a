-- Bytes xored with SHA-256 of the seed and a counter; the same again gives the bytes back. Eight at a time, because
-- Postgres xors no bytea.
create or replace function pgrecall.under_key_stream(body bytea, seed bytea) returns bytea
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return coalesce((
        select substring(string_agg(int8send(
            ('x' || rpad(encode(substring(body from 8 * n + 1 for 8), 'hex'), 16, '0'))::bit(64)::bigint
            # ('x' || encode(substring(sha256(seed || int4send(n)) for 8), 'hex'))::bit(64)::bigint), '' order by n)
            for length(body))
        from generate_series(0, (length(body) - 1) / 8) as n), '');
end
$$;
