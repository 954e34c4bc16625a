-- Whether a memory comes from its agent or its user themselves. `metadata.source_type` says it: user, agent, tool,
-- web, email or document; anything else counts as foreign. Left out, a source that is an address tells it.
create or replace function pgrecall.source_is_trusted(metadata jsonb, source text) returns boolean
language sql immutable parallel safe
return case
    when metadata ? 'source_type' and metadata -> 'source_type' <> 'null'
        then coalesce(lower(btrim(metadata ->> 'source_type')) in ('user', 'agent'), false)
    else coalesce(source !~* '^\s*(https?://|ftp://|mailto:|www\.)|^\S+@\S+\.\S+$', true)
end;
