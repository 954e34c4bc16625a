-- Put the store in order: archive what has expired, erase what was deleted long enough ago, drop old lines of the
-- recall log, take readers off that nobody has any more, copy fresh shares, and let the vectors of models go that
-- were replaced a day ago. All or nothing of it is done.
-- Whoever comes while another does it leaves at once, with null.
create or replace function pgrecall.maintain(
    keep_recall_log interval default '30 days', keep_deleted interval default '30 days')
returns table (expired bigint, recall_log_dropped bigint, shares int, erased bigint,
    scrub_due boolean, store_bytes bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- No advisory lock: any agent could hold it for ever.
    begin
        lock table pgrecall.shares in share update exclusive mode nowait;
    exception when lock_not_available then
        return;
    end;
    with due as (
        update pgrecall.memories m set archived_at = m.expires_at
        where m.superseded_at is null and m.archived_at is null and m.expires_at <= now()
        returning m.space, m.id, m.agent, m.version
    ), told as (
        select pgrecall.append_event(d.space, d.agent, 'expire', d.id, d.version, '{}', null)
        from due d
    )
    select count(*) into expired from told;
    delete from pgrecall.recall_log r where r.at < now() - keep_recall_log;
    get diagnostics recall_log_dropped = row_count;
    perform pgrecall.sweep_tokens();
    erased := pgrecall.erase_deleted(keep_deleted);
    perform pgrecall.tidy_after_erasing();
    shares := pgrecall.refresh_shares();
    perform pgrecall.drop_retired_vectors('1 day');
    scrub_due := exists (select from pgrecall.upkeep u where u.task = 'scrub');
    store_bytes := (
        select sum(pg_total_relation_size(c.oid)) from pg_class c
        where c.relnamespace = 'pgrecall'::regnamespace and c.relkind = 'r');
    return next;
end
$$;
grant execute on function pgrecall.maintain(interval, interval) to pgrecall_service;
