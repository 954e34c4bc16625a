-- Run by the app role before the migrations, every time; each statement is idempotent.
-- Roles belong to the whole cluster, so another database, or another process, may have made them already.
do $$
declare
    wanted text;
begin
    foreach wanted in array array['pgrecall_owner', 'pgrecall_service', 'pgrecall_agent', 'pgrecall_reader'] loop
        begin
            execute format('create role %I nologin', wanted);
        exception when duplicate_object or unique_violation then
            null;
        end;
        if not pg_has_role(current_user, wanted, 'set') or not pg_has_role(current_user, wanted, 'usage') then
            execute format('grant %I to %I with inherit true, set true', wanted, current_user);
        end if;
    end loop;
end
$$;
-- The recorded names and hashes of what stands in this database.
create schema if not exists pgrecall authorization pgrecall_owner;
create schema if not exists memory authorization pgrecall_owner;
create table if not exists pgrecall.migrations (
    name text primary key,
    sha256 text not null,
    applied_at timestamptz not null default now()
);
create table if not exists pgrecall.functions (
    name text primary key,
    sha256 text not null,
    applied_at timestamptz not null default now()
);
alter table pgrecall.migrations owner to pgrecall_owner;
alter table pgrecall.functions owner to pgrecall_owner;
alter default privileges for role pgrecall_owner revoke execute on functions from public;
alter default privileges for role pgrecall_owner revoke usage on types from public;
