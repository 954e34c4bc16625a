-- In which session of its agent a version was written; null where none was open.
alter table pgrecall.memories add column session uuid;
