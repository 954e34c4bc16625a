-- The one predicate of who reads what: a row's readers and the session's principals overlap, or the row is shared by
-- itself and with the session. Postgres hashes `shared` where it knows it when it plans: seven hundred shares then cost
-- no more than seven. Inlined by the planner: that is why it has no search_path of its own and names everything in full.
create or replace function pgrecall.readable(readers text[], id uuid, principals text[], shared uuid[]) returns boolean
language sql stable parallel safe
as $$
select readers operator(pg_catalog.&&) principals
    -- Never null, because its negation is asked too.
    or shared is not null and id operator(pg_catalog.=) any (shared)
        and (('share:' operator(pg_catalog.||) id::text) operator(pg_catalog.=) any (readers))
$$;
grant execute on function pgrecall.readable(text[], uuid, text[], uuid[]) to pgrecall_agent, pgrecall_reader, pgrecall_service;

create or replace function pgrecall.readable(readers text[], id uuid, seen_as pgrecall.viewer) returns boolean
language sql stable parallel safe
as $$
select pgrecall.readable(readers, id, seen_as.principals, seen_as.shared)
$$;
