-- What single memories are shared with a session is looked up by id, beside its principals: hundreds of tokens in
-- one `&&` cost a recall three times as much.
create type pgrecall.viewer as (principals text[], shared uuid[]);
alter type pgrecall.scope add attribute shared uuid[];
