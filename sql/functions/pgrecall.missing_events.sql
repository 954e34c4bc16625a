-- Say which events of a chain are missing.
create or replace function pgrecall.missing_events(first bigint, last bigint) returns text
language sql stable parallel safe
return case when first = last then format('event %s is missing', first)
    else format('events %s to %s are missing', first, last) end;
