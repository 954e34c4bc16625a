-- The aliases of the spaces that one belongs to.
drop policy if exists readable on pgrecall.entity_aliases;
create policy readable on pgrecall.entity_aliases for select to pgrecall_agent, pgrecall_reader
    using (space = any ((select pgrecall.member_spaces('reader'))::text[]));
grant select on pgrecall.entity_aliases to pgrecall_agent, pgrecall_reader;

create or replace view memory.aliases with (security_invoker = true) as
select a.space, a.entity || '' as entity, a.alias || '' as alias, a.agent, a.created_at from pgrecall.entity_aliases a;
grant select on memory.aliases to pgrecall_agent, pgrecall_reader;
