-- name: act_as
select set_config('pgrecall.agent', $1, true), set_config('role', $2, true)

-- name: act_as_app
select set_config('role', 'none', true), set_config('pgrecall.agent', '', true)
