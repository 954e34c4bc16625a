-- A span of time over all the spaces that one sees, newest first.
create index memories_happened on pgrecall.memories (happened_at desc, id, version);
