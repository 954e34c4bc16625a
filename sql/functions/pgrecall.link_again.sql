-- Whether a link is still to be made: one from before its ends' newest versions is taken away, to be made anew.
create or replace function pgrecall.link_again(in_space text, from_id uuid, to_id uuid, kind text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    delete from pgrecall.links l
    where l.space = in_space and l.source = from_id and l.target = to_id and l.relation = kind
        and l.created_at < (
            select max(m.created_at) from pgrecall.memories m
            where m.space = in_space and m.id in (from_id, to_id) and m.superseded_at is null);
    return true;
end
$$;
