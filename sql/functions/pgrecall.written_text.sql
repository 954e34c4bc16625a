-- All that a reader of the memory gets to read, one field a line.
create or replace function pgrecall.written_text(m pgrecall.memories) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Most memories are a content and little else.
    if m.title is null and m.tags = '{}' and m.source is null and m.key is null and m.thread is null
        and m.metadata = '{}'
    then
        return concat_ws(E'\n', m.entity, m.content);
    end if;
    return concat_ws(
        E'\n', m.title, m.entity, m.content, array_to_string(m.tags, E'\n'), m.key, m.thread, m.source,
        case when m.metadata <> '{}' then (
            select string_agg(s #>> '{}', E'\n') from jsonb_path_query(m.metadata, 'strict $.** ? (@.type() == "string")') s)
        end,
        case when m.metadata <> '{}' then (
            select string_agg(k #>> '{}', E'\n')
            from jsonb_path_query(m.metadata, 'strict $.** ? (@.type() == "object").keyvalue().key') k)
        end);
end
$$;
