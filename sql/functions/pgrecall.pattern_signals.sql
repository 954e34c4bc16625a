-- The patterns that a reading matches. Where the text talks about such attacks, what stands in quotes is cited
-- and counts less, and so does the rest, a little.
create or replace function pgrecall.pattern_signals(reading text) returns setof pgrecall.signal
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Patterns take a character before and behind each word.
    body text := E'\n' || reading || E'\n';
    -- The text's words, and the signs that patterns without words ask for: trying every LIKE took four times as long.
    said tsvector := array_to_tsvector(
        array_remove(regexp_split_to_array(body, '\W+'), '')
        || array(select s from unnest(array['<|', '](', '$(', '`', '()', '@', '~/', '<!--']) s where strpos(body, s) > 0)
        || case when octet_length(body) > length(body) and body ~ '[\u2e80-\uffff]' then array[E'\u4e2d'] end);
    found pgrecall.suspicion_patterns[] := array(
        select p from pgrecall.suspicion_patterns p
        -- The planner would try the expression first.
        where case when said @@ p.words is not false then
            case when body like any (p.needs) then body ~ p.pattern end end);
    outside text;
begin
    if cardinality(found) > 0 and body ~ pgrecall.discussion_words() then
        outside := regexp_replace(body, '"[^"]{3,250}"|`[^`]{3,250}`', ' ', 'g');
        return query
        select f.reason, (f.weight * case when outside ~ f.pattern then 0.6 else 0.3 end)::real from unnest(found) f;
    else
        return query select f.reason, f.weight from unnest(found) f;
    end if;
end
$$;
