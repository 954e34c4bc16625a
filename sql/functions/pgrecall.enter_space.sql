-- See that the agent may write into the space; the first writer of a new space makes it and administers it.
create or replace function pgrecall.enter_space(target text, who text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    held text;
begin
    select m.role into held from pgrecall.members m where m.space = target and m.agent = who;
    if held in ('writer', 'admin') then
        return;
    end if;
    if held is null and (target !~ '^~' or target = '~' || who) then
        insert into pgrecall.spaces (space, created_by) values (target, who) on conflict do nothing;
        if found then
            insert into pgrecall.members (space, agent, role) values (target, who, 'admin');
            perform pgrecall.append_event(target, who, 'create_space', null, null, '{}', null);
            return;
        end if;
    end if;
    raise exception 'agent "%" may not write into space "%"', who, target using errcode = '42501';
end
$$;
