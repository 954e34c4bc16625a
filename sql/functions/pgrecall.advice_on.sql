-- What to do about a concern of the health report.
create or replace function pgrecall.advice_on(concern text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case concern
    when 'expired' then 'nothing: recall leaves them out, and maintenance archives them'
    when 'ended' then 'recall leaves them out; archive them, or revise valid_until'
    when 'stale' then 'read them; forget, revise or pin them, or consolidate what clusters() offers'
    when 'low confidence' then 'look for evidence; revise their confidence, or forget them'
    when 'repeats' then 'settle each with resolve(ids, ''evidence'')'
    when 'near repeats' then 'see similar(id), and settle them with resolve(ids, how)'
    when 'contradictions' then 'see contradictions(id), and settle them with resolve(ids, how)'
    when 'orphans' then 'what they came from or pointed at is gone or not yours to see; check that they still hold'
    when 'quarantined' then 'they wait for an admin of the space: `pgrecall quarantine list`, release(id), reject(id)'
    when 'aliases that clash' then 'they mean two entities at once; take one meaning away with unalias(alias, space)'
    when 'aliases that lead nowhere' then 'no memory speaks of what they mean; unalias(alias, space), if none is to come'
    when 'without a vector' then 'wait for the worker; `pgrecall status` tells the backlog'
end;
