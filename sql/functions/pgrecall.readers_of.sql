-- Who may read a memory: its owner, and by visibility the space's members or everyone.
create or replace function pgrecall.readers_of(owner text, space text, visibility text) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
select array['agent:' || owner] || case visibility
    when 'shared' then array['space:' || space]
    when 'public' then array['*', 'space:' || space]
    else '{}'::text[]
end
$$;
