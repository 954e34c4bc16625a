-- The one predicate of who reads what: a row's readers and the session's principals overlap, or the row is shared by
-- itself and with the session. Postgres hashes `shared` where it knows it when it plans: seven hundred shares then cost
-- no more than seven. Null where nothing is shared and the lists don't overlap. The planner writes it into the query: that
-- is why it has no setting of its own, and takes each of `principals` and `shared` but once, which may be subqueries. In
-- `return` form it is bound to its operators when it is created.
create or replace function pgrecall.readable(readers text[], id uuid, principals text[], shared uuid[]) returns boolean
language sql stable parallel safe
return readers && principals
    or id = any (shared) and 'share:' || id::text = any (readers);
grant execute on function pgrecall.readable(text[], uuid, text[], uuid[]) to pgrecall_agent, pgrecall_reader, pgrecall_service;

create or replace function pgrecall.readable(readers text[], id uuid, seen_as pgrecall.viewer) returns boolean
language sql stable parallel safe
return pgrecall.readable(readers, id, (seen_as).principals, (seen_as).shared);
