-- Write a draft as the next version of a memory that it says anew, or as a memory of its own where it says none.
create or replace function pgrecall.say_anew(memory_id uuid, draft pgrecall.draft, who text) returns pgrecall.written
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if memory_id is null or draft.key is not null then
        return pgrecall.write_memory(draft);
    end if;
    draft.space := null;
    return pgrecall.revise_memory(memory_id, draft, '{}', null, who);
end
$$;
