-- A time-ordered id (UUID version 7, RFC 9562), microseconds included; Postgres has its own from 18 on only.
create or replace function pgrecall.new_id() returns uuid
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    microseconds bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
    random bytea := uuid_send(gen_random_uuid());
begin
    return encode(
        substring(int8send(microseconds / 1000) from 3)
            || substring(int4send(28672 + ((microseconds % 1000) * 4096 / 1000)::int) from 3)
            || substring(random from 9),
        'hex')::uuid;
end
$$;
