-- The rows of a delegation: one for the memories of who delegates, and one for each delegation that he holds,
-- may pass on and that meets the scope, cut down to what both allow. 42501 where he has nothing to give.
create or replace function pgrecall.passed_on(wanted pgrecall.delegations) returns setof pgrecall.delegations
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    held pgrecall.delegations;
    given pgrecall.delegations;
    enough boolean := wanted.space is null or exists (
        select from pgrecall.members b where b.space = wanted.space and b.agent = wanted.granted_by);
begin
    return next wanted;
    for held in
        select d.* from pgrecall.delegations d
        where d.agent = wanted.granted_by and d.owner <> wanted.agent and d.depth > 0
            and coalesce(d.expires_at, 'infinity') > statement_timestamp()
            and (d.space is null or wanted.space is null or d.space = wanted.space)
            and (d.kinds is null or wanted.kinds is null or d.kinds && wanted.kinds)
        order by d.id
        for key share
    loop
        given := wanted;
        given.id := pgrecall.new_id();
        given.parent := held.id;
        given.owner := held.owner;
        given.permission := (array['read', 'write', 'share'])[
            least(pgrecall.permission_rank(wanted.permission), pgrecall.permission_rank(held.permission))];
        given.space := coalesce(wanted.space, held.space);
        given.kinds := case when wanted.kinds is null or held.kinds is null then coalesce(wanted.kinds, held.kinds)
            else array(select unnest(wanted.kinds) intersect select unnest(held.kinds) order by 1) end;
        given.tags := case when wanted.tags is null or held.tags is null then coalesce(wanted.tags, held.tags)
            else array(select unnest(wanted.tags) union select unnest(held.tags) order by 1) end;
        given.expires_at := least(wanted.expires_at, held.expires_at);
        given.depth := least(wanted.depth, held.depth - 1);
        enough := enough or given.permission = wanted.permission;
        return next given;
    end loop;
    if not enough then
        raise exception 'agent "%" may not delegate in space "%"', wanted.granted_by, wanted.space
            using errcode = '42501',
                detail = 'It is no member, and holds no delegation there that may be passed on and allows as much.';
    end if;
end
$$;
