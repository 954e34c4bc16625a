-- Let texts that were let in tell how their agent writes: thirty of a batch at most, and of what comes singly
-- one in ten once a thousand are known. The caller holds the lock on the agent's chain.
create or replace function pgrecall.feed_baseline(target text, who text, fresh pgrecall.memories[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    most constant int := 30;
    step int := greatest(cardinality(fresh) / most, 1);
    known bigint;
begin
    select b.texts into known from pgrecall.baselines b where b.space = target and b.agent = who;
    if known >= 1000 and cardinality(fresh) < most and random() > 0.1 then
        return;
    end if;
    insert into pgrecall.baselines as b (space, agent, texts, sums, squares)
    select target, who, max(e.texts), array_agg(e.sum order by e.feature), array_agg(e.square order by e.feature)
    from (
        select x.feature, count(*) as texts, sum(x.value) as sum, sum(x.value * x.value) as square
        from (select f, row_number() over () as number from unnest(fresh) f) as one
        cross join lateral unnest(pgrecall.text_features(pgrecall.written_text(one.f)))
            with ordinality as x(value, feature)
        where one.number % step = 0
        group by x.feature
    ) as e
    having max(e.texts) > 0
    on conflict (space, agent) do update
    set texts = b.texts + excluded.texts,
        sums = array(select a + c from unnest(b.sums, excluded.sums) with ordinality as u(a, c, n) order by u.n),
        squares = array(select a + c from unnest(b.squares, excluded.squares) with ordinality as u(a, c, n) order by u.n);
end
$$;
