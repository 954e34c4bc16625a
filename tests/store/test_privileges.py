"""Who holds which privilege: the whole catalog of both schemas against what is written here.

A new table, view, function, sequence or type fails until it stands here with what it grants; what
grants nothing to anybody needs no line.
"""

from collections import defaultdict

READERS = {"pgrecall_agent", "pgrecall_reader"}
EVERYONE = {*READERS, "pgrecall_service"}

# Tables that agents see rows of, through policies; nobody but their owner writes any.
READABLE_TABLES = {
    *("agents", "chain_heads", "delegations", "entity_aliases", "events", "members", "memories"),
    *("memory_shares", "quarantine", "recall_log", "sessions", "spaces"),
}
# Of these only columns that hold no secret.
READABLE_COLUMNS = {
    "agent_tokens": {"agent", "prefix", "created_at", "expires_at", "last_used_at"},
    "sql_logins": {"agent"},
}
READABLE_VIEWS = {
    *("agents", "aliases", "delegations", "events", "log_heads", "members", "memories"),
    "memory_versions",
    *("quarantine", "recall_log", "sessions", "shares", "spaces", "tokens"),
}
WRITABLE_VIEWS = {"memories": {"INSERT", "DELETE"}}

READING_FUNCTIONS = {
    *("memory.about", "memory.contradictions", "memory.health", "memory.history"),
    # Who only reads may leave a space too.
    *("memory.related", "memory.remove_member"),
    *("memory.resemblances", "memory.similar", "memory.verify", "pgrecall.visible_of"),
}
WRITING_FUNCTIONS = {
    *("memory.add_member", "memory.alias", "memory.clusters", "memory.consolidate"),
    *("memory.create_space", "memory.delegate", "memory.resolve"),
    *("memory.end_session", "memory.erase", "memory.forget", "memory.forget_version"),
    *("memory.link", "memory.reject", "memory.release", "memory.remember"),
    "memory.remember_many",
    *("memory.replace_source", "memory.restore", "memory.revise", "memory.revoke_delegation"),
    *("memory.share",),
    *("memory.start_session", "memory.unalias", "memory.unlink", "memory.unshare"),
}
# Policies and views call some of these as whoever selects.
ASKED_BY_ALL = {
    *("memory.current_agent", "memory.explain_recall", "memory.recall"),
    *("pgrecall.is_admin", "pgrecall.member_spaces", "pgrecall.principals", "pgrecall.shared_ids"),
    *("pgrecall.readable", "pgrecall.told_content"),
}
SERVICE_FUNCTIONS = {
    *("pgrecall.claim_unembedded", "pgrecall.collect_recalls", "pgrecall.keep_query_embeddings"),
    *("pgrecall.maintain", "pgrecall.own_held", "pgrecall.refresh_shares"),
    "pgrecall.settle_embeddings",
    *("pgrecall.store_embeddings", "pgrecall.unsealed", "pgrecall.use_embedding_model"),
}
TYPES = {
    *("memory.contradiction", "memory.erased", "memory.explained", "memory.likeness"),
    *("memory.query_embedding", "memory.recalled", "memory.verdict"),
}

_NAMES = "array_agg(distinct coalesce(g.rolname, 'public') || ' ' || a.privilege_type)"


async def granted(pool, relation: str, acl: str, name: str, where: str) -> dict[str, set[str]]:
    """What others than the owner hold: object → {"role PRIVILEGE"}."""
    rows = await pool.fetch(
        f"""
        select {name} as name, {_NAMES} as held
        from {relation} cross join lateral aclexplode({acl}) a
        left join pg_roles g on g.oid = a.grantee
        where n.nspname in ('memory', 'pgrecall') and a.grantee <> a.grantor and {where}
        group by 1
        """
    )
    return {row["name"]: set(row["held"]) for row in rows}


def to(roles: set[str], *privileges: str) -> set[str]:
    return {f"{role} {privilege}" for role in roles for privilege in privileges}


async def test_tables_views_and_sequences_grant_what_is_written_here(pool):
    held = await granted(
        pool,
        "pg_class c join pg_namespace n on n.oid = c.relnamespace",
        "c.relacl",  # where there is none, nobody but the owner has a right
        "n.nspname || '.' || c.relname",
        "c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')",
    )

    expected = {f"pgrecall.{table}": to(READERS, "SELECT") for table in READABLE_TABLES}
    expected |= {f"memory.{view}": to(READERS, "SELECT") for view in READABLE_VIEWS}
    for view, privileges in WRITABLE_VIEWS.items():
        expected[f"memory.{view}"] |= to({"pgrecall_agent"}, *privileges)
    assert held == expected


async def test_columns_grant_what_is_written_here(pool):
    held = await granted(
        pool,
        "pg_attribute t join pg_class c on c.oid = t.attrelid"
        " join pg_namespace n on n.oid = c.relnamespace",
        "t.attacl",
        "c.relname || '.' || t.attname",
        "true",
    )

    assert held == {
        f"{table}.{column}": to(READERS, "SELECT")
        for table, columns in READABLE_COLUMNS.items()
        for column in columns
    }


async def test_functions_grant_what_is_written_here(pool):
    held = await granted(
        pool,
        "pg_proc p join pg_namespace n on n.oid = p.pronamespace",
        "coalesce(p.proacl, acldefault('f', p.proowner))",
        "n.nspname || '.' || p.proname",
        "true",
    )

    expected = defaultdict(set)
    for names, roles in (
        (READING_FUNCTIONS, READERS),
        (WRITING_FUNCTIONS, {"pgrecall_agent"}),
        (ASKED_BY_ALL, EVERYONE),
        (SERVICE_FUNCTIONS, {"pgrecall_service"}),
    ):
        for name in names:
            expected[name] |= to(roles, "EXECUTE")
    assert held == expected


async def test_types_grant_what_is_written_here(pool):
    held = await granted(
        pool,
        "pg_type t join pg_namespace n on n.oid = t.typnamespace"
        " left join pg_class c on c.oid = t.typrelid",
        "coalesce(t.typacl, acldefault('T', t.typowner))",
        "n.nspname || '.' || t.typname",
        # Arrays go with their elements, and rows with their tables.
        "t.typelem = 0 and coalesce(c.relkind, 'c') = 'c'",
    )

    assert held == {name: to(EVERYONE, "USAGE") for name in TYPES}


async def test_schemas_let_agents_name_what_is_public_and_nothing_else(pool):
    held = await granted(
        pool,
        "pg_namespace n",
        "coalesce(n.nspacl, acldefault('n', n.nspowner))",
        "n.nspname",
        "true",
    )

    assert held == {"memory": to(EVERYONE, "USAGE")}


async def test_nothing_new_is_open_by_default(pool):
    rows = await pool.fetch(
        "select d.defaclobjtype::text as kind, d.defaclnamespace = 0 as everywhere, a.*"
        " from pg_default_acl d cross join lateral aclexplode(d.defaclacl) a"
        " where d.defaclrole = 'pgrecall_owner'::regrole"
    )

    assert {(row["kind"], row["everywhere"], row["grantee"] == row["grantor"]) for row in rows} == {
        ("f", True, True),
        ("T", True, True),
    }


async def test_everything_of_ours_has_one_owner(pool):
    rows = await pool.fetch(
        """
        select o.name, o.owner::regrole::text as owner from (
            select c.relname as name, c.relnamespace as namespace, c.relowner as owner
            from pg_class c
            union all select p.proname, p.pronamespace, p.proowner from pg_proc p
            union all select t.typname, t.typnamespace, t.typowner from pg_type t
            union all select n.nspname, n.oid, n.nspowner from pg_namespace n
        ) as o
        where o.namespace in ('memory'::regnamespace, 'pgrecall'::regnamespace)
        """
    )

    assert {row["owner"] for row in rows} == {"pgrecall_owner"}


async def test_every_view_asks_as_its_caller(pool):
    rows = await pool.fetch(
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname in ('memory', 'pgrecall') and c.relkind in ('v', 'm')"
        " and not coalesce(c.reloptions @> array['security_invoker=true'], false)"
    )

    assert rows == []


async def test_every_policy_lets_agents_read_and_no_more(pool):
    rows = await pool.fetch(
        "select c.relname, p.polcmd::text as command, p.polroles::regrole[]::text[] as roles"
        " from pg_policy p join pg_class c on c.oid = p.polrelid"
    )

    assert {row["relname"] for row in rows} == READABLE_TABLES | READABLE_COLUMNS.keys()
    assert {(row["command"], *sorted(row["roles"])) for row in rows} == {("r", *sorted(READERS))}


async def test_the_roles_of_agents_have_no_powers_and_belong_to_no_other(pool):
    rows = await pool.fetch(
        "select r.rolname, r.rolcanlogin or r.rolsuper or r.rolcreaterole or r.rolcreatedb"
        " or r.rolreplication or r.rolbypassrls as powerful,"
        " exists (select from pg_auth_members m where m.member = r.oid) as belongs"
        " from pg_roles r where r.rolname = any ($1)",
        [*EVERYONE, "pgrecall_owner"],
    )

    assert {tuple(row) for row in rows} == {
        (role, False, False) for role in (*EVERYONE, "pgrecall_owner")
    }
