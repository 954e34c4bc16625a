-- What a write under an Idempotency-Key left, for a day, so that the same request again writes nothing.
-- Hashes and ids only: an erased memory leaves nothing readable here. `space` is the agent's own.
create table pgrecall.idempotency_keys (
    space text not null,
    key_hash bytea not null,
    request_hash bytea not null,
    ids uuid[],
    versions int[],
    repeated boolean[],
    expires_at timestamptz not null,
    primary key (space, key_hash)
);
create index on pgrecall.idempotency_keys (expires_at);
alter table pgrecall.idempotency_keys enable row level security;
