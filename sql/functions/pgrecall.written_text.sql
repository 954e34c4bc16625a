-- All that a reader of the memory gets to read, one field a line.
create or replace function pgrecall.written_text(m pgrecall.memories) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    written text := concat_ws(
        E'\n', m.title, m.entity, m.content, array_to_string(m.tags, E'\n'), m.key, m.thread, m.source);
begin
    -- Apart, because an expression with a query in it is planned and started anew for each memory.
    if m.metadata <> '{}' then
        written := concat_ws(E'\n', written, (
            select string_agg(s #>> '{}', E'\n')
            from jsonb_path_query(m.metadata, 'strict $.** ? (@.type() == "string")') s), (
            select string_agg(k #>> '{}', E'\n')
            from jsonb_path_query(m.metadata, 'strict $.** ? (@.type() == "object").keyvalue().key') k));
    end if;
    return written;
end
$$;
