-- What an erasure can't do at once: a line that came to the recall log in the same moment goes, and the planner's
-- statistics, which are copies of words, are made anew.
create or replace function pgrecall.tidy_after_erasing() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    began timestamptz;
begin
    with due as (
        delete from pgrecall.upkeep u where u.task = 'tidy' returning u.since
    )
    select min(d.since) into began from due d;
    if began is null then
        return;
    end if;
    delete from pgrecall.recall_log r
    where r.at > began - interval '5 minutes' and exists (
        select from unnest(r.ids) as answered(id)
        where not exists (select from pgrecall.memories m where m.id = answered.id));
    analyze pgrecall.memories;
    analyze pgrecall.embeddings;
    analyze pgrecall.links;
end
$$;
