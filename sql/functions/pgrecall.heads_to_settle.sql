-- The locked heads of 2 to 100 memories of one space that stand and that the session's agent may change.
create or replace function pgrecall.heads_to_settle(ids uuid[], who text) returns pgrecall.memories[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    named constant uuid[] := array(select distinct i from unnest(ids) i where i is not null order by i);
    heads pgrecall.memories[];
begin
    if cardinality(named) not between 2 and 100 then
        raise exception 'name 2 to 100 different memories, not %', cardinality(named) using errcode = '22023';
    end if;
    -- In the order of their ids: two who settle the same must not lock each other out.
    for number in 1 .. cardinality(named) loop
        heads[number] := pgrecall.head_to_change(named[number], who);
        if heads[number].archived_at is not null or heads[number].expires_at <= clock_timestamp() then
            raise exception 'memory % is archived', named[number] using errcode = '22023', hint = 'Restore it first.';
        elsif heads[number].space <> heads[1].space then
            raise exception 'memories % and % are in different spaces', named[1], named[number] using errcode = '22023';
        end if;
    end loop;
    return heads;
end
$$;
