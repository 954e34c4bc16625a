-- A text as words in a row, in whichever language a row is; null where it has no searchable word.
create or replace function pgrecall.phrase(value text) returns tsquery
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- A phrase of stop words is told by null, and not by a notice each.
set client_min_messages = warning
as $$
declare
    folded text := pgrecall.fold(value);
    plain text := pgrecall.parts(regexp_replace(
        folded, '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+', ' ', 'g'));
    found tsquery := phraseto_tsquery(pgrecall.text_configuration(null), plain);
    spoken text;
begin
    if numnode(found) > 0 then
        for spoken in select l.language from pgrecall.languages l order by l.language loop
            found := found || phraseto_tsquery(pgrecall.text_configuration(spoken), plain);
        end loop;
    end if;
    found := found && phraseto_tsquery('simple', coalesce(pgrecall.bigrams(folded), ''));
    return nullif(found, '');
end
$$;
