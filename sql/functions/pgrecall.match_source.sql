-- Which memory of a source each draft says anew, null for none: by its key; else the one of the same words, else the
-- nth of its title among those that are left, as the draft is the nth. None stands for two.
create or replace function pgrecall.match_source(source text, target text, who text, drafts pgrecall.draft[])
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    standing pgrecall.memories[] := array(
        select m from pgrecall.memories m
        where m.space = target and m.source = source and m.agent = who
            and m.superseded_at is null and m.archived_at is null
            and (m.expires_at is null or m.expires_at > clock_timestamp())
        order by m.id
        for update);
    found uuid[] := array_fill(null::uuid, array[cardinality(drafts)]);
    match record;
begin
    for match in
        with said as (
            select d.ordinality as place, d.key, d.title, pgrecall.said(d.content) as words
            from unnest(drafts) with ordinality d
        ), by_key as (
            select s.place, h.id from said s join unnest(standing) h on h.key = s.key
        ), by_words as (
            select s.place, h.id
            from (
                select s.*, row_number() over (partition by s.words order by s.place) as nth from said s where s.key is null
            ) as s
            join (
                select h.id, pgrecall.said(h.content) as words,
                    row_number() over (partition by pgrecall.said(h.content) order by h.created_at, h.id) as nth
                from unnest(standing) h where h.id not in (select k.id from by_key k)
            ) as h using (words, nth)
        ), taken as (
            select * from by_key union all select * from by_words
        ), by_title as (
            select s.place, h.id
            from (
                select s.place, s.title, row_number() over (partition by s.title order by s.place) as nth
                from said s where s.key is null and s.title is not null and s.place not in (select t.place from taken t)
            ) as s
            join (
                select h.id, h.title, row_number() over (partition by h.title order by h.created_at, h.id) as nth
                from unnest(standing) h where h.title is not null and h.id not in (select t.id from taken t)
            ) as h using (title, nth)
        )
        select * from taken union all select * from by_title
    loop
        found[match.place] := match.id;
    end loop;
    return found;
end
$$;
