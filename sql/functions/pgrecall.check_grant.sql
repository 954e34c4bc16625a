-- Refuse a grant that can't be: to nobody, to oneself, of no such permission, or over already.
create or replace function pgrecall.check_grant(who text, agent text, permission text, expires_at timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
    if agent is null then
        raise exception 'agent must be named' using errcode = '22023';
    elsif coalesce(permission not in ('read', 'write', 'share'), true) then
        raise exception 'permission must be read, write or share, not %', quote_nullable(permission)
            using errcode = '22023';
    elsif expires_at <= statement_timestamp() then
        raise exception 'expires_at must be in the future, not %', expires_at using errcode = '22023';
    elsif agent = who then
        raise exception 'agent "%" can''t grant itself anything', who using errcode = '22023';
    elsif not exists (select from pgrecall.agents a where a.agent = check_grant.agent) then
        raise exception 'no agent "%"', agent using errcode = 'P0002';
    end if;
end
$$;
