-- The one predicate of who reads what: a row's readers and the session's principals overlap, or the row is shared by
-- itself and with the session. Postgres hashes `shared` where it knows it when it plans: seven hundred shares then cost
-- no more than seven. Never null, because its negation is asked too. Inlined by the planner, as a setting of its own
-- would prevent; in `return` form it is bound to its operators when it is created.
create or replace function pgrecall.readable(readers text[], id uuid, principals text[], shared uuid[]) returns boolean
language sql stable parallel safe
return readers && principals
    or shared is not null and id = any (shared) and 'share:' || id::text = any (readers);
grant execute on function pgrecall.readable(text[], uuid, text[], uuid[]) to pgrecall_agent, pgrecall_reader, pgrecall_service;

create or replace function pgrecall.readable(readers text[], id uuid, seen_as pgrecall.viewer) returns boolean
language sql stable parallel safe
return pgrecall.readable(readers, id, (seen_as).principals, (seen_as).shared);
