-- A content on its way out of the table: views, recall() and the worker that embeds tell what comes from here.
create or replace function pgrecall.told_content(content text) returns text
language sql immutable parallel safe
return content;
grant execute on function pgrecall.told_content(text) to pgrecall_agent, pgrecall_reader, pgrecall_service;
