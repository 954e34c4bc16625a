-- Make a space, and administer it; one that exists already is refused (23505).
create or replace function memory.create_space(space text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_variable
declare
    who text := pgrecall.writing_agent();
begin
    if coalesce(space !~ '\S' or length(space) > 200, true) then
        raise exception 'space must be 1 to 200 characters, not blank' using errcode = '22023';
    elsif exists (select from pgrecall.spaces s where s.space = create_space.space) then
        raise exception 'space "%" exists already', space using errcode = '23505';
    end if;
    perform pgrecall.enter_space(space, who);
end
$$;
grant execute on function memory.create_space(text) to pgrecall_agent;
