-- A time-ordered id (UUID version 7, RFC 9562): Postgres' own from 18 on, before it one made here,
-- with microseconds in the bits that follow the milliseconds.
do $do$
begin
    if to_regprocedure('pg_catalog.uuidv7()') is not null then
        create or replace function pgrecall.new_id() returns uuid
        language plpgsql volatile
        set search_path = pg_catalog, pg_temp
        as 'begin return uuidv7(); end';
        return;
    end if;
    create or replace function pgrecall.new_id() returns uuid
    language plpgsql volatile
    set search_path = pg_catalog, pg_temp
    as $$
    declare
        microseconds bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
    begin
        return encode(
            substring(int8send(microseconds / 1000) from 3)
                || substring(int4send(28672 + ((microseconds % 1000) * 4096 / 1000)::int) from 3)
                || substring(uuid_send(gen_random_uuid()) from 9),
            'hex')::uuid;
    end
    $$;
end
$do$;
