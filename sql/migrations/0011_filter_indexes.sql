-- What a recall may be narrowed to without reading the whole store. Most memories keep the defaults of
-- importance and confidence, so that an index over what is above them stays small.
create index memories_tags on pgrecall.memories using gin (tags);
create index memories_kind on pgrecall.memories (kind, space) where superseded_at is null;
create index memories_importance on pgrecall.memories (importance) where superseded_at is null and importance > 0.5;
create index memories_confidence on pgrecall.memories (confidence) where superseded_at is null and confidence > 0.8;
-- Past versions, which no vector index holds: each recall of the past measures them.
create index memories_past on pgrecall.memories (superseded_at) where superseded_at is not null;
