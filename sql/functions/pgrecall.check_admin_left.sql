-- Refuse to take the admin's role from a member that a space can't do without: the agent whose own space it is,
-- and, but for the deployment's admin, the last admin.
create or replace function pgrecall.check_admin_left(target text, leaving text, everywhere boolean) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if target = '~' || leaving then
        raise exception 'agent "%" always administers its own space', leaving using errcode = '42501';
    elsif not everywhere
        and exists (
            select from pgrecall.members m where m.space = target and m.agent = leaving and m.role = 'admin')
        and not exists (
            select from pgrecall.members m where m.space = target and m.agent <> leaving and m.role = 'admin')
    then
        raise exception 'agent "%" is the last admin of space "%"', leaving, target
            using errcode = '42501', hint = 'Make another member its admin first.';
    end if;
end
$$;
