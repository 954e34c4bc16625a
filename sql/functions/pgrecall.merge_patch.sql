-- A JSON value with a patch applied (RFC 7396): null takes a name away, objects merge, anything else replaces.
create or replace function pgrecall.merge_patch(target jsonb, patch jsonb) returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    merged jsonb := case when jsonb_typeof(target) = 'object' then target else '{}' end;
    name text;
    value jsonb;
begin
    if jsonb_typeof(patch) <> 'object' then
        return patch;
    end if;
    for name, value in select p.key, p.value from jsonb_each(patch) p loop
        if value = 'null' then
            merged := merged - name;
        else
            merged := jsonb_set(merged, array[name], pgrecall.merge_patch(merged -> name, value));
        end if;
    end loop;
    return merged;
end
$$;
