-- See that nobody has more of a memory than who passed it on: what hangs below a share that may not be passed
-- on any more ends, and the rest ends no later than the share itself.
create or replace function pgrecall.bound_shares_below(above pgrecall.memory_shares) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if above.permission <> 'share' then
        delete from pgrecall.memory_shares s
        where s.space = above.space and s.id = above.id and s.through = above.agent;
    elsif above.expires_at is not null then
        with recursive below as (
            select s.agent from pgrecall.memory_shares s
            where s.space = above.space and s.id = above.id and s.through = above.agent
            union
            select s.agent from pgrecall.memory_shares s join below b on s.through = b.agent
            where s.space = above.space and s.id = above.id
        )
        update pgrecall.memory_shares s set expires_at = least(s.expires_at, above.expires_at)
        from below b where s.space = above.space and s.id = above.id and s.agent = b.agent;
    end if;
end
$$;
