-- A lexical hit tells how close it comes to the best one, 0 to 1, and no longer its share of the query's words.
alter type pgrecall.lexical_hit rename attribute share to closeness;

-- One word of a query: any of the stems that count for it, how many versions hold it, and its weight.
create type pgrecall.query_word as (lexeme text, term tsquery, holders real, idf real);
