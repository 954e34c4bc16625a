-- The memories within some hops of one, each with its fewest; only over memories that the session may see.
create or replace function pgrecall.reachable(start uuid, hops int)
returns table (id uuid, distance int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    s pgrecall.scope;
    head pgrecall.memories;
begin
    if hops is null or hops not between 1 and 5 then
        raise exception 'hops must be between 1 and 5, not %', coalesce(hops::text, 'null') using errcode = '22023';
    end if;
    s.principals := pgrecall.principals();
    s.shared := pgrecall.shared_ids();
    s.min_importance := 0;
    s.min_confidence := 0;
    s.superseded := false;
    s.archived := false;
    select * into head from pgrecall.memories m
    where m.id = start and m.superseded_at is null and pgrecall.readable(m.readers, m.id, s.principals, s.shared);
    if not found then
        raise exception 'no memory %', start using errcode = 'P0002';
    end if;
    s.space := head.space;
    return query
    select g.id, g.hops
    from pgrecall.graph_leg(
        array[(head.space, head.id, head.version, 0, 1)::pgrecall.graph_hit], reachable.hops, null, s, null) g;
end
$$;
