-- What an agent could find out about others by the way.

-- A private memory stands in nobody's way but its owner's: another's refusal would tell its words.
drop index pgrecall.memories_identity;
create unique index memories_identity on pgrecall.memories (space, agent, key_owner, identity_hash)
    where superseded_at is null and archived_at is null;

-- Whoever may connect may listen to any notice: one that carries a text is sealed with this key. A reference
-- table on Citus.
create table pgrecall.notice_keys (key bytea not null check (length(key) = 32));
alter table pgrecall.notice_keys enable row level security;
insert into pgrecall.notice_keys (key)
values (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
