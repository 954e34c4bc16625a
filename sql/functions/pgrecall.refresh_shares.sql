-- Copy from ANALYZE's statistics how common words, readers and spaces are. A small store keeps no copy:
-- there everything is counted. Run behind, now and then; answers how many were copied.
create or replace function pgrecall.refresh_shares() returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    copied int := 0;
begin
    delete from pgrecall.shares;
    if pgrecall.memory_count() >= 5000 then
        insert into pgrecall.shares (subject, value, share)
        select c.subject, v.value, c.shares[v.number]
        from (
            select case s.attname when 'lexemes' then 'word' when 'readers' then 'reader' else 'space' end as subject,
                case s.attname when 'space' then s.most_common_vals else s.most_common_elems end::text::text[] as vals,
                case s.attname when 'space' then s.most_common_freqs else s.most_common_elem_freqs end as shares
            from pg_stats s
            where s.schemaname = 'pgrecall' and s.tablename = 'memories' and not s.inherited
                and s.attname in ('lexemes', 'readers', 'space')
        ) as c
        cross join lateral unnest(c.vals) with ordinality as v(value, number);
        get diagnostics copied = row_count;
        -- Without statistics each look at one word would read the shares of all.
        analyze pgrecall.shares;
    end if;
    return copied;
end
$$;
grant execute on function pgrecall.refresh_shares() to pgrecall_service;
