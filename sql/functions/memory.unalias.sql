-- Take an alias away from its entity, in a space that one may write into.
create or replace function memory.unalias(alias text, space text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    target text := coalesce(space, '~' || who);
begin
    perform pgrecall.enter_space(target, who);
    delete from pgrecall.entity_aliases a where a.space = target and a.name = pgrecall.entity_name(alias);
    if not found then
        raise exception 'no alias %', quote_literal(alias) using errcode = 'P0002';
    end if;
    perform pgrecall.append_event(target, who, 'unalias', null, null, '{}', null);
end
$$;
grant execute on function memory.unalias(text, text) to pgrecall_agent;
