-- In what two statements differ that would else say the same: 'other value', 'the opposite', 'one denies it' or
-- 'another name'; null where they agree, or where one only says more. `alike` is the share of their other words that
-- they have in common; `about` are words that both are known to be about, which make nothing alike.
create or replace function pgrecall.disagreement(
    one pgrecall.statement, two pgrecall.statement, about text[], out what text, out alike real
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    here tsvector := ts_delete(one.words, about);
    there tsvector := ts_delete(two.words, about);
    names_here constant tsvector := ts_delete(one.names, tsvector_to_array(two.names));
    names_there constant tsvector := ts_delete(two.names, tsvector_to_array(one.names));
    opposite boolean := false;
    side text;
    common int;
begin
    foreach side in array tsvector_to_array(ts_delete(one.sides, tsvector_to_array(two.sides))) loop
        opposite := opposite or translate(side, '+-', '-+') = any (
            tsvector_to_array(ts_delete(two.sides, tsvector_to_array(one.sides))));
    end loop;
    if length(ts_delete(one.amounts, tsvector_to_array(two.amounts))) > 0
        and length(ts_delete(two.amounts, tsvector_to_array(one.amounts))) > 0
    then
        what := 'other value';
    elsif opposite and one.denied = two.denied then
        what := 'the opposite';
    elsif one.denied <> two.denied and not opposite then
        what := 'one denies it';
    elsif length(names_here) between 1 and 2 and length(names_there) between 1 and 2 then
        what := 'another name';
        here := ts_delete(here, pgrecall.stems_of(tsvector_to_array(names_here)));
        there := ts_delete(there, pgrecall.stems_of(tsvector_to_array(names_there)));
    end if;
    common := length(here) - length(ts_delete(here, tsvector_to_array(there)));
    alike := case when length(here) + length(there) = 0 then 1
        else common::real / (length(here) + length(there) - common) end;
end
$$;
