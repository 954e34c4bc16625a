-- name: readiness
select array(select name from pgrecall.migrations) as migrations,
    (select count(*) from pgrecall.embedding_queue) as embedding_backlog
