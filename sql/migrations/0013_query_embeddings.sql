-- Embeddings of query texts that came by a road on which nobody could embed them, such as a column: the
-- worker makes them behind, and the next such call has them. Bounded; shared by all spaces, for a vector
-- tells nothing that whoever has the text does not know. A reference table on Citus.
create table pgrecall.query_embeddings (
    model text not null references pgrecall.embedding_models on delete cascade,
    text_hash bytea not null,
    embedding public.halfvec not null,
    made_at timestamptz not null default now(),
    primary key (model, text_hash)
);
create index on pgrecall.query_embeddings (made_at);
alter table pgrecall.query_embeddings enable row level security;
