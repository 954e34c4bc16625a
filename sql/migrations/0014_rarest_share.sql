-- Every query asks how rare the rarest word of the statistics is.
create index shares_rarest on pgrecall.shares (subject, share);
