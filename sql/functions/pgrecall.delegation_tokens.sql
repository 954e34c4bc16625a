-- The readers that an owner's memory is given by the delegations whose scope takes it. Those of unbounded scope
-- need none: they read by the owner's name.
create or replace function pgrecall.delegation_tokens(owner text, space text, kind text, tags text[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
    return array(
        select d.token from pgrecall.delegations d
        where d.owner = delegation_tokens.owner and d.token like 'delegation:%'
            and (d.space is null or d.space = delegation_tokens.space)
            and (d.kinds is null or kind = any (d.kinds))
            and (d.tags is null or delegation_tokens.tags @> d.tags)
            and coalesce(d.expires_at, 'infinity') > statement_timestamp()
        order by d.token);
end
$$;
