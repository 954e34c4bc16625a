-- Which of several memories stays. Without a content of its own a merge keeps the one whose words hold all the others'.
create or replace function pgrecall.kept_of(heads pgrecall.memories[], how text, content text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    kept uuid;
begin
    if how = 'evidence' then
        return (select h.id from unnest(heads) h order by pgrecall.evidence(h) desc, h.created_at desc, h.id desc limit 1);
    elsif how = 'merge' and content is null then
        select h.id into kept from unnest(heads) h
        where not exists (
            select from unnest(heads) o
            where position(lower(regexp_replace(btrim(pgrecall.told_content(o.content), E' \t\n.'), '\s+', ' ', 'g'))
                in lower(regexp_replace(pgrecall.told_content(h.content), '\s+', ' ', 'g'))) = 0)
        order by h.created_at desc, h.id desc limit 1;
        if kept is null then
            raise exception 'none of the memories says what all of them say'
                using errcode = '22023', hint = 'Give the text of the merged memory as content.';
        end if;
        return kept;
    end if;
    return (
        select h.id from unnest(heads) h
        order by coalesce(h.valid_from, h.happened_at) desc, h.created_at desc, h.id desc limit 1);
end
$$;
