-- Whether an event commits to the version of a memory that it names; a link's commitment, say, does not.
create or replace function pgrecall.committed_version(e pgrecall.events) returns boolean
language sql stable parallel safe
return case octet_length(e.commitment) when 33 then true when 32 then e.action in ('remember', 'revise') else false end;
