-- Refuse a revision of what is no longer there to be revised, that takes away what it sets or what a memory can't
-- be without (22023).
create or replace function pgrecall.check_revision(
    head pgrecall.memories, draft pgrecall.draft, clear text[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    clearable constant text[] := array['title', 'entity', 'tags', 'key', 'thread', 'source', 'event_at', 'valid_from',
        'valid_until', 'ttl', 'metadata', 'derived_from'];
    named text[];
    name text;
begin
    if head.archived_at is not null then
        raise exception 'memory % is %', head.id, case when head.deleted_at is null then 'archived' else 'deleted' end
            using errcode = '22023', hint = 'Restore it first.';
    elsif head.expires_at <= clock_timestamp() then
        raise exception 'memory % has expired', head.id using errcode = '22023', hint = 'Restore it first.';
    end if;
    if clear <> '{}' then
        named := array(select n.key from jsonb_each(to_jsonb(draft)) n where n.value <> 'null');
    end if;
    foreach name in array clear loop
        if name is null or not name = any (clearable) then
            raise exception '% can''t be cleared', quote_nullable(name)
                using errcode = '22023', hint = 'These can: ' || array_to_string(clearable, ', ') || '.';
        elsif name = any (named) then
            raise exception '% can''t be both given and cleared', name using errcode = '22023';
        end if;
    end loop;
end
$$;
