-- The query's quoted phrases, all of which a lexical hit must hold; null where nothing searchable is quoted.
-- A quoted name of an entity stands for any of its names.
create or replace function pgrecall.required_phrases(query text, s pgrecall.scope default null) returns tsquery
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    quoted text;
    phrase tsquery;
    required tsquery;
begin
    foreach quoted in array pgrecall.quoted_phrases(query) loop
        phrase := pgrecall.any_name(pgrecall.names_of(quoted, s));
        required := coalesce(required && phrase, required, phrase);
    end loop;
    return required;
end
$$;
