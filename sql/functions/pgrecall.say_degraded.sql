-- Tell the session once a statement that recall() does without its vector leg, and why.
create or replace function pgrecall.say_degraded(reason text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('pgrecall.noticed_at', true) is distinct from statement_timestamp()::text then
        perform set_config('pgrecall.noticed_at', statement_timestamp()::text, true);
        raise notice 'recall() serves the lexical leg only: %', reason using hint = case reason
            when 'no query embedding' then
                'A column can''t be embedded on its way in, nor a text that comes past the gateway; '
                'the same text has its embedding from the next call on.'
            else 'The vector leg serves again once this is mended.'
        end;
    end if;
end
$$;
