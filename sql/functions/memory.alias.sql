-- Give an entity another name in a space, one's own by default; an alias that meant another entity means this one.
create or replace function memory.alias(entity text, alias text, space text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
    target text := coalesce(space, '~' || who);
    meant text;
begin
    if coalesce(entity !~ '\S' or length(entity) > 200, true) then
        raise exception 'entity must be 1 to 200 characters, not blank' using errcode = '22023';
    elsif coalesce(alias !~ '\S' or length(alias) > 200, true) then
        raise exception 'alias must be 1 to 200 characters, not blank' using errcode = '22023';
    elsif target !~ '\S' or length(target) > 200 then
        raise exception 'space must be 1 to 200 characters, not blank' using errcode = '22023';
    end if;
    perform pgrecall.enter_space(target, who);
    -- The alias of an alias is one of what that means.
    select a.entity into meant from pgrecall.entity_aliases a
    where a.space = target and a.name = pgrecall.entity_name(entity);
    meant := coalesce(meant, entity);
    if pgrecall.entity_name(meant) = pgrecall.entity_name(alias) then
        raise exception 'an entity can''t be an alias of itself' using errcode = '22023';
    end if;
    insert into pgrecall.entity_aliases (space, name, alias, entity, agent)
    values (target, pgrecall.entity_name(alias), alias, meant, who)
    on conflict on constraint entity_aliases_pkey do update
    set alias = excluded.alias, entity = excluded.entity, agent = excluded.agent, created_at = now();
    perform pgrecall.append_event(target, who, 'alias', null, null, '{}', null);
end
$$;
grant execute on function memory.alias(text, text, text) to pgrecall_agent;
