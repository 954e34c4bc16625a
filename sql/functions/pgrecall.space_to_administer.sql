-- Lock a space that an agent may choose the members of: an admin of the space, or of the deployment. Answers
-- whether the latter; P0002 where it may not even know of the space.
create or replace function pgrecall.space_to_administer(target text, who text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    held text := (select m.role from pgrecall.members m where m.space = target and m.agent = who);
    everywhere boolean := (select a.admin from pgrecall.agents a where a.agent = who);
begin
    perform from pgrecall.spaces s where s.space = target and (held is not null or everywhere) for update;
    if not found then
        raise exception 'no space %', quote_nullable(target) using errcode = 'P0002';
    elsif held is distinct from 'admin' and not everywhere then
        raise exception 'agent "%" does not administer space "%"', who, target using errcode = '42501';
    end if;
    return everywhere;
end
$$;
