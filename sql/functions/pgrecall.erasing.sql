-- Whether events of this action take versions out of the store: all that the memory had then.
create or replace function pgrecall.erasing(action text) returns boolean
language sql stable parallel safe
return action in ('erase', 'purge');
