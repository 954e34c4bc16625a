-- The locked version in quarantine that the session's agent is to decide on, the oldest where none is named;
-- P0002 when there is none, or none that the agent reviews.
create or replace function pgrecall.held_for_review(memory_id uuid, of_version int) returns pgrecall.quarantine
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    held pgrecall.quarantine;
begin
    select * into held from pgrecall.quarantine q
    where q.id = memory_id and (of_version is null or q.version = of_version)
        and (pgrecall.is_admin() or q.space = any (pgrecall.member_spaces('admin')))
    order by q.version
    limit 1
    for update;
    if not found then
        raise exception 'no memory % in quarantine', memory_id using errcode = 'P0002';
    end if;
    return held;
end
$$;
