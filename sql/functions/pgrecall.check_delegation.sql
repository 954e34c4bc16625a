-- Refuse a delegation's scope that can't be, saying which part of it (22023).
create or replace function pgrecall.check_delegation(space text, kinds text[], tags text[], depth int) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    complaint text := case
        when space !~ '\S' or length(space) > 200 then 'space must be 1 to 200 characters, not blank'
        when cardinality(kinds) = 0 then 'kinds must name at least one'
        when not coalesce(kinds <@ array['episodic', 'semantic', 'procedural', 'resource', 'strategic', 'identity'], true)
            then 'kinds must be among episodic, semantic, procedural, resource, strategic and identity'
        when cardinality(tags) > 100 then format('at most 100 tags, not %s', cardinality(tags))
        when array_position(tags, null) is not null then 'a tag must not be null'
        when coalesce(depth not between 0 and 10, true)
            then format('depth must be between 0 and 10, not %s', coalesce(depth::text, 'null'))
    end;
begin
    if complaint is not null then
        raise exception '%', complaint using errcode = '22023';
    end if;
end
$$;
