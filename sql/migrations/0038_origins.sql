-- By what words that come back are known.

-- A number that texts of the same words have in common, whatever their case and their blanks. It feeds an index:
-- changing it means a new migration.
create function pgrecall.said(content text) returns bigint
language sql immutable parallel safe strict
return hashtextextended(lower(regexp_replace(btrim(content), '\s+', ' ', 'g')), 0);

create index memories_said on pgrecall.memories (pgrecall.said(content)) where superseded_at is null;
