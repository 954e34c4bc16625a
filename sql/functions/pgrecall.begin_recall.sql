-- Begin a recall's time, for pgrecall.late(); refuses a deadline that is no number (22023).
create or replace function pgrecall.begin_recall() returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    deadline text := nullif(current_setting('pgrecall.deadline_ms', true), '');
begin
    if not pg_input_is_valid(coalesce(deadline, '0'), 'real') or deadline::real in ('NaN', '-Infinity') then
        raise exception 'pgrecall.deadline_ms must be a number of milliseconds, not %', quote_literal(deadline)
            using errcode = '22023';
    end if;
    perform set_config('pgrecall.recall_began', clock_timestamp()::text, true),
        set_config('pgrecall.left_out', '', true);
end
$$;
