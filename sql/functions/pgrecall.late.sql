-- Whether a recall's time is up; the part named is left out then, and the answer says so. The time begins anew with
-- each recall and is `pgrecall.deadline_ms`, 5 s where the session has set none; 0 is without end.
create or replace function pgrecall.late(part text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    deadline_ms real := coalesce(nullif(current_setting('pgrecall.deadline_ms', true), ''), '5000')::real;
    began timestamptz := nullif(current_setting('pgrecall.recall_began', true), '')::timestamptz;
begin
    if began is null or deadline_ms <= 0 or clock_timestamp() < began + deadline_ms * interval '1 ms' then
        return false;
    end if;
    perform set_config('pgrecall.left_out', concat_ws(', ', nullif(current_setting('pgrecall.left_out', true), ''), part), true);
    raise notice 'recall() left out %: its deadline of % ms has passed', part, deadline_ms
        using hint = 'SET pgrecall.deadline_ms gives it longer; 0 is without end.';
    return true;
end
$$;
