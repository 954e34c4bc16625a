-- What one agent wrote, over all spaces: its own chains, and the memories that they must account for. Without these
-- verify() by somebody who administers little reads every event and every memory there is.
create index events_agent on pgrecall.events (agent);
create index memories_agent on pgrecall.memories (agent);
