-- Whether two memories contradict each other: by what they are of the same (`of`), and in what they differ (`what`,
-- null if they don't); and whether they say two things (`apart`), which makes them no repeats.
-- What happened may happen again, and what held at another time may have been so: neither contradicts.
create or replace function pgrecall.different(
    one pgrecall.memories, two pgrecall.memories, said pgrecall.statement, other pgrecall.statement,
    about text[], called text[], out of text, out what text, out apart boolean
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    same_entity constant boolean := coalesce(pgrecall.entity_name(two.entity) = any (called), false);
    found text;
    alike real;
    -- What one sentence denies, another may say of something else: that takes more words in common.
    close real := 0.45;
begin
    select d.what, d.alike into found, alike
    from pgrecall.disagreement(said, other, case when same_entity then about else '{}' end) d;
    apart := found is not null;
    if one.valid_until <= two.valid_from or two.valid_until <= one.valid_from then
        return;
    elsif one.key = two.key then
        of := 'same key';
        what := coalesce(found, case when pgrecall.said(one.content) <> pgrecall.said(two.content) then 'other words' end);
        return;
    elsif one.kind = 'episodic' and two.kind = 'episodic' then
        return;
    elsif same_entity then
        of := 'same entity';
    elsif one.entity is null or two.entity is null then
        of := 'nearly the same words';
        close := 0.75;
    else
        return;
    end if;
    if found in ('one denies it', 'another name') then
        close := greatest(close, 0.6);
    end if;
    -- Of fewer words in common too much could be meant.
    if alike >= close and (
        same_entity or found <> 'another name' and least(length(said.words), length(other.words)) >= 3)
    then
        what := found;
    end if;
end
$$;
