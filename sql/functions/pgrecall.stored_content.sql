-- A content on its way into the table: every version that is written passes here. As it came; a deployment that
-- encrypts at rest does so here (docs/life.md).
create or replace function pgrecall.stored_content(content text) returns text
language sql immutable parallel safe
return content;
