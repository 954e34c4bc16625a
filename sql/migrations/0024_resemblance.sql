-- What two texts are compared by, to tell a memory that says the same from one that says otherwise.

-- The stems of what is said, with the amounts, sides (one of two opposites) and names in it; `denied` when it is
-- said of an odd number of its words that it is not so.
create type pgrecall.statement as (words tsvector, amounts tsvector, sides tsvector, names tsvector, denied boolean);
-- A memory that is like another: how many of both's words they share, and how far apart they are in meaning.
create type pgrecall.neighbour as (id uuid, version int, overlap real, distance real);
create type pgrecall.resemblance as (
    id uuid, version int, title text, content text, overlap real, distance real, contradicts boolean, why text);
create type memory.likeness as (
    id uuid, version int, title text, content text, overlap real, distance real, why text);
create type memory.contradiction as (id uuid, version int, title text, content text, why text);
grant usage on type memory.likeness, memory.contradiction to pgrecall_agent, pgrecall_reader, pgrecall_service;
-- How alike two memories are, 0 to 1.
create type pgrecall.likeness as (id uuid, other uuid, alike real);
