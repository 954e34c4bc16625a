-- The life of a memory: who wrote a version, what it comes from, when it stopped holding, when it was deleted.
alter table pgrecall.memories
    -- Who wrote this version, where that was not the memory's owner.
    add column written_by text,
    -- From when on a later version holds, where that is another time than when it was written.
    add column replaced_from timestamptz,
    add column deleted_at timestamptz,
    -- The memories that it was made of, as its writer named them; and one whose words it only repeats.
    add column derived_from uuid[],
    add column echo_of uuid;

alter type pgrecall.draft add attribute derived_from uuid[];
