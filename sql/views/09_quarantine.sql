-- quarantine: for its reviewers, who are the space's admins and the deployment's.
drop policy if exists readable on pgrecall.quarantine;
create policy readable on pgrecall.quarantine for select to pgrecall_agent, pgrecall_reader
    using ((select pgrecall.is_admin()) or space = any ((select pgrecall.member_spaces('admin'))::text[]));
grant select on pgrecall.quarantine to pgrecall_agent, pgrecall_reader;

create or replace view memory.quarantine with (security_invoker = true) as
select q.id, q.version, q.space, q.agent, q.memory ->> 'title' as title, q.memory ->> 'content' as content,
    q.memory ->> 'source' as source, q.memory -> 'metadata' ->> 'source_type' as source_type,
    q.score, q.reasons, q.at
from pgrecall.quarantine q;
grant select on memory.quarantine to pgrecall_agent, pgrecall_reader;
