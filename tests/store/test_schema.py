"""What the catalog says of our tables and functions: keys fit for Citus, nothing left open."""

# Small tables that every node holds whole: their rows belong to no space.
WHOLE = {
    "agents",
    "agent_tokens",
    "sql_logins",
    "embedding_models",
    "query_embeddings",
    "shares",
    "languages",
    "delegations",
    "row_tokens",
    "suspicion_patterns",
}
BOOKKEEPING = {"migrations", "functions"}


async def test_every_key_of_a_spaces_data_starts_with_the_space(pool):
    rows = await pool.fetch(
        """
        select c.relname as table, i.relname as index, a.attname as first
        from pg_index x
        join pg_class c on c.oid = x.indrelid
        join pg_class i on i.oid = x.indexrelid
        join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute a on a.attrelid = i.oid and a.attnum = 1
        where n.nspname = 'pgrecall' and x.indisunique
        """
    )

    spaced = {(row["table"], row["index"]): row["first"] for row in rows}
    assert {"memories", "embeddings", "links", "events"} <= {table for table, _ in spaced}
    assert {
        key: first
        for key, first in spaced.items()
        if first != "space" and key[0] not in WHOLE | BOOKKEEPING
    } == {}


async def test_every_foreign_key_between_spaced_tables_starts_with_the_space(pool):
    rows = await pool.fetch(
        """
        select k.conname, t.relname as child, r.relname as parent, a.attname as first
        from pg_constraint k
        join pg_class t on t.oid = k.conrelid
        join pg_class r on r.oid = k.confrelid
        join pg_namespace n on n.oid = t.relnamespace
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
        where n.nspname = 'pgrecall' and k.contype = 'f'
        """
    )

    assert [
        row["conname"] for row in rows if row["parent"] not in WHOLE and row["first"] != "space"
    ] == []


async def test_no_table_carries_a_trigger_of_ours(pool):
    rows = await pool.fetch(
        "select t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid"
        " join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname in ('pgrecall', 'memory') and not t.tgisinternal and c.relkind <> 'v'"
    )

    assert rows == []


async def test_every_table_is_guarded_by_row_level_security(pool):
    rows = await pool.fetch(
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'pgrecall' and c.relkind = 'r' and not c.relrowsecurity"
    )

    assert {row["relname"] for row in rows} == BOOKKEEPING


async def test_every_function_has_a_fixed_search_path_or_a_body_bound_at_creation(pool):
    rows = await pool.fetch(
        """
        select n.nspname || '.' || p.proname as name
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname in ('pgrecall', 'memory')
            and p.prosqlbody is null
            and not coalesce(array_to_string(p.proconfig, ',') ~ 'search_path=', false)
        """
    )

    # Inlined into each recall's plan, which a setting would prevent; it names everything in full.
    assert [row["name"] for row in rows] == ["pgrecall.in_scope"]


async def test_every_plpgsql_function_compiles(pool):
    rows = await pool.fetch(
        """
        select p.oid, p.oid::regprocedure::text as name
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        join pg_language l on l.oid = p.prolang
        where n.nspname in ('pgrecall', 'memory') and l.lanname = 'plpgsql'
        """
    )

    assert len(rows) > 20
    for row in rows:
        await pool.execute("select plpgsql_validator($1)", row["oid"])


async def test_nobody_but_the_granted_may_call_our_functions(pool):
    rows = await pool.fetch(
        """
        select p.oid::regprocedure::text as name
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
        where n.nspname in ('pgrecall', 'memory') and acl.grantee = 0
        """
    )

    assert [row["name"] for row in rows] == []


async def test_sql_files_hold_one_function_each_named_as_the_file():
    from sql import loader

    for script in loader.scripts("functions"):
        name = script.name.removesuffix(".sql")
        assert f"function {name}(" in script.text
        assert script.text.startswith("-- "), script.name


async def test_public_functions_work_whatever_backslashes_mean_in_the_session(pool, ada):
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("set local standard_conforming_strings = off")
        await connection.execute("set local pgrecall.agent = 'ada'")
        identity = await connection.fetchval("select memory.remember('see C:\\\\temp\\\\a.txt')")
        rows = await connection.fetch("select id from memory.recall('temp yesterday', k => 3)")
        assert [row["id"] for row in rows] == [identity]
        rows = await connection.fetch("select id from memory.recall('a.txt', k => 3)")
        assert [row["id"] for row in rows] == [identity]
        await connection.execute("select memory.forget($1)", identity)
