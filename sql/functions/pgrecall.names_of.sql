-- Every name of what a name means to the scope's caller, the name itself first; null for null. Aliases count in
-- the space that is asked, in all of the caller's where none is, and the caller's own everywhere.
create or replace function pgrecall.names_of(given text, s pgrecall.scope) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if given is null then
        return null;
    end if;
    return array[given] || array(
        with known as (
            select a.alias, a.entity, a.name, pgrecall.entity_name(a.entity) as of from pgrecall.entity_aliases a
            where 'space:' || a.space = any (s.principals)
                and (s.space is null or a.space = s.space or a.space like '~%')
        ), meant as (
            select k.of from known k where pgrecall.entity_name(given) in (k.name, k.of)
        )
        select distinct n.name
        from known k cross join lateral (values (k.alias), (k.entity)) as n(name)
        where k.of in (select m.of from meant m) and n.name <> given
        order by n.name);
end
$$;
