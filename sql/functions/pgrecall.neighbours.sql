-- The memories of a scope whose words are most like another's: found by its rarest words, its entity and its key;
-- of an entity with hundreds of memories, by the words. `overlap` is the share of both's words that they have in
-- common, of a long text by a sample.
create or replace function pgrecall.neighbours(head pgrecall.memories, s pgrecall.scope, called text[], pool int)
returns setof pgrecall.neighbour
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    sample constant text[] := array(
        select u.lexeme from unnest(head.lexemes) u order by hashtext(u.lexeme), u.lexeme limit 100);
    words constant pgrecall.query_word[] := array(select w from pgrecall.rare_words(head.lexemes) w);
    any_word constant tsquery := pgrecall.any_of(sample);
    size constant real := length(head.lexemes);
    -- With one weight and no positions, ts_rank counts the words: a row's sum is divided by π²/6 and their number.
    unit constant double precision := pi() ^ 2 / 6 * size;
    -- What bounds the cost: each row found is looked at.
    budget constant real := 200;
    expected real := 0;
    word pgrecall.query_word;
    chosen tsquery;
begin
    if size = 0 then
        return;
    end if;
    foreach word in array words loop
        exit when chosen is not null and expected + word.holders > budget;
        chosen := coalesce(chosen || word.term, word.term);
        expected := expected + word.holders;
    end loop;
    return query
    select f.id, f.version, (f.common / (size + f.words - f.common))::real, null::real
    from (
        select m.id, m.version, length(m.lexemes) as words, coalesce(m.key = head.key, false) as same_key,
            least(ts_rank('{1,1,1,1}', strip(m.lexemes), any_word) * unit, size, length(m.lexemes)) as common
        from (
            select m.space, m.id, m.version from pgrecall.memories m
            where m.lexemes @@ chosen and pgrecall.in_scope(m, s)
            union
            (select m.space, m.id, m.version from pgrecall.memories m
            where pgrecall.entity_name(m.entity) = any (called) and m.space = head.space and pgrecall.in_scope(m, s)
            limit 200)
            union
            select m.space, m.id, m.version from pgrecall.memories m
            where m.space = head.space and m.key = head.key and m.key_owner = any (array['', head.agent, memory.current_agent()])
                and pgrecall.in_scope(m, s)
        ) as near
        join pgrecall.memories m using (space, id, version)
        where m.id <> head.id
        offset 0
    ) as f
    where f.common >= 0.25 * (size + f.words - f.common) or f.same_key
    order by f.same_key desc, 3 desc, f.id
    limit pool;
end
$$;
