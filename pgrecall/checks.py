"""What a database must offer before pgrecall can live in it, each with the exact remedy."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from typing import Literal

import asyncpg

Outcome = Literal["ok", "advice", "failed"]

MINIMUM_POSTGRES = 16
MINIMUM_VECTOR = (0, 8)
_ROLES = ("pgrecall_owner", "pgrecall_service", "pgrecall_agent", "pgrecall_reader")
_CLOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `remedy` is what to type or to ask for, None when all is well."""

    outcome: Outcome
    label: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the checks ask the server, read in one round trip."""

    major: int
    version: str
    database: str
    role: str
    superuser: bool
    createrole: bool
    closed_roles: list[str]
    may_create: bool
    owner: bool
    public_may_connect: bool
    public_may_create: bool
    encoding: str
    ctype: str
    replica: bool
    read_only: bool
    max_connections: int
    statement_timeout: int
    jit: bool
    installed: str | None
    installed_in: str | None
    available: str | None
    now: float


_FACTS = """
SELECT current_setting('server_version_num')::int / 10000 AS major,
       current_setting('server_version') AS version,
       current_database()::text AS database,
       current_user::text AS role,
       me.rolsuper AS superuser,
       me.rolcreaterole AS createrole,
       ARRAY(SELECT rolname::text FROM pg_roles r WHERE rolname = ANY ($1)
                AND NOT pg_has_role(current_user, r.oid, 'member with admin option')
                AND NOT (pg_has_role(current_user, r.oid, 'usage')
                         AND pg_has_role(current_user, r.oid, 'set'))
              ORDER BY rolname) AS closed_roles,
       has_database_privilege(current_database(), 'create') AS may_create,
       pg_has_role(current_user, d.datdba, 'usage') AS owner,
       has_database_privilege('public', current_database(), 'connect') AS public_may_connect,
       coalesce(has_schema_privilege('public', to_regnamespace('public')::oid, 'create'), false)
           AS public_may_create,
       pg_encoding_to_char(d.encoding)::text AS encoding,
       d.datctype AS ctype,
       pg_is_in_recovery() AS replica,
       current_setting('default_transaction_read_only')::bool AS read_only,
       current_setting('max_connections')::int AS max_connections,
       (SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
       current_setting('jit')::bool AS jit,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
       (SELECT nspname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
         WHERE extname = 'vector') AS installed_in,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
       extract(epoch FROM clock_timestamp())::float8 AS now
  FROM pg_database d, pg_roles me
 WHERE d.datname = current_database() AND me.rolname = current_user
"""

# The library declares its settings when it is loaded, which the first use of its types does.
_LOAD_VECTOR = """
DO $$ BEGIN
    EXECUTE (SELECT format($q$SELECT '[1]'::%I.vector$q$, nspname) FROM pg_namespace n
               JOIN pg_extension ON extnamespace = n.oid WHERE extname = 'vector');
END $$
"""


@dataclass(frozen=True, slots=True)
class _Probe:
    """What the extension says when it is used: whether we may, and whether it scans on."""

    usable: bool
    iterative_scan: bool


async def _probe_vector(connection: asyncpg.Connection, *, create: bool) -> _Probe:
    """Create the extension if it is missing, use it, and take all of it back.

    A try is the only way to know: managed services let chosen roles create it without superuser.
    """
    transaction = connection.transaction()
    await transaction.start()
    try:
        if create:
            await connection.execute("CREATE EXTENSION vector")
        await connection.execute(_LOAD_VECTOR)
        known = await connection.fetchval(
            "SELECT current_setting('hnsw.iterative_scan', true) IS NOT NULL"
        )
        return _Probe(usable=True, iterative_scan=bool(known))
    except asyncpg.PostgresError:
        return _Probe(usable=False, iterative_scan=False)
    finally:
        await transaction.rollback()


async def check_database(dsn: str) -> list[Check]:
    """Return what stands between pgrecall and this database; changes nothing in it."""
    try:
        connection = await asyncpg.connect(dsn, timeout=10)
    except (OSError, TimeoutError, ssl.SSLError, ValueError) as error:
        return [_unreachable(error)]
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return [_refused(error)]
    try:
        asked = time.time()
        row = await connection.fetchrow(_FACTS, list(_ROLES))
        assert row is not None
        facts = _Facts(**dict(row))
        probe = await _probe_vector(connection, create=facts.installed is None)
        return [
            *_server_checks(facts),
            *_vector_checks(facts, probe),
            *_privilege_checks(facts),
            *_setting_checks(facts, skew_seconds=facts.now - asked),
        ]
    finally:
        await connection.close(timeout=5)


def _unreachable(error: Exception) -> Check:
    return Check(
        "failed",
        f"the database can't be reached: {str(error) or type(error).__name__}",
        "see host, port and sslmode in PGRECALL_DATABASE_URL, and that the server runs",
    )


def _refused(error: Exception) -> Check:
    remedies: list[tuple[type[Exception], str]] = [
        (asyncpg.InvalidPasswordError, "see user and password in PGRECALL_DATABASE_URL"),
        (asyncpg.InvalidAuthorizationSpecificationError, "see user, password and pg_hba.conf"),
        (asyncpg.InvalidCatalogNameError, "CREATE DATABASE it, or name another one"),
        (asyncpg.TooManyConnectionsError, "raise max_connections, or close some"),
        (asyncpg.CannotConnectNowError, "the server starts or stops: try again in a moment"),
    ]
    remedy = next((told for kind, told in remedies if isinstance(error, kind)), None)
    return Check("failed", f"the database refuses the login: {error}", remedy)


def _server_checks(facts: _Facts) -> list[Check]:
    checks = [
        _either(
            facts.major >= MINIMUM_POSTGRES,
            f"PostgreSQL {facts.version.split()[0]}",
            f"needs {MINIMUM_POSTGRES} or later",
            f"upgrade the server to PostgreSQL {MINIMUM_POSTGRES} or later",
        ),
        _either(
            facts.encoding == "UTF8",
            f"encoding {facts.encoding}",
            "needs UTF8",
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0;",
        ),
        _either(
            not (facts.replica or facts.read_only),
            "takes writes",
            "no: a replica, or default_transaction_read_only is on",
            "connect to the primary (target_session_attrs=read-write)",
        ),
    ]
    if facts.ctype in ("C", "POSIX"):
        checks.append(
            Check(
                "advice",
                f"LC_CTYPE {facts.ctype}: quotes and dashes beyond ASCII stick to words",
                "CREATE DATABASE … LC_CTYPE 'C.UTF-8' TEMPLATE template0;",
            )
        )
    return checks


def _vector_checks(facts: _Facts, probe: _Probe) -> list[Check]:
    scan = _either(
        probe.iterative_scan,
        "hnsw.iterative_scan known",
        "no (comes with vector 0.8)",
        "update vector, and reconnect",
    )
    package = f"package postgresql-{facts.major}-pgvector"
    needed = ".".join(map(str, MINIMUM_VECTOR))
    if facts.installed:
        found = f"extension vector {facts.installed}"
        if facts.installed_in != "public":
            where = f"{found} stands in schema {facts.installed_in}, and is looked for in public"
            return [Check("failed", where, "ALTER EXTENSION vector SET SCHEMA public;"), scan]
        if _version(facts.installed) >= MINIMUM_VECTOR:
            return [Check("ok", found), scan]
        remedy = f"ALTER EXTENSION vector UPDATE;   ({package})"
        return [Check("failed", f"{found}, needs {needed}", remedy), scan]
    if not facts.available:
        return [Check("failed", "extension vector is not on the server", f"install {package}")]
    if _version(facts.available) < MINIMUM_VECTOR:
        found = f"the server has extension vector {facts.available}, needs {needed}"
        return [Check("failed", found, f"install a newer {package}")]
    if not probe.usable:
        return [
            Check(
                "failed",
                f"extension vector {facts.available} is there, and not in this database",
                f"as a superuser in database {facts.database}: CREATE EXTENSION vector;",
            )
        ]
    return [Check("ok", f"extension vector {facts.available} can be created"), scan]


def _privilege_checks(facts: _Facts) -> list[Check]:
    role, database = facts.role, facts.database
    checks = [
        _either(
            facts.superuser or facts.createrole,
            "may create roles",
            "no",
            f"ALTER ROLE {role} CREATEROLE;",
        ),
        _either(
            facts.may_create,
            f"may create schemas in {database}",
            "no",
            f"GRANT CREATE ON DATABASE {database} TO {role};",
        ),
    ]
    if facts.closed_roles:
        roles = ", ".join(facts.closed_roles)
        remedy = f"GRANT {roles} TO {role} WITH ADMIN OPTION;   or use the role that made them"
        checks.append(Check("failed", f"may not use {roles}, which others made", remedy))
    if not (facts.owner or facts.public_may_connect):
        checks.append(
            Check(
                "advice",
                f"agents may not connect to {database}, and {role} can't let them",
                f"after pgrecall migrate: GRANT CONNECT ON DATABASE {database} "
                "TO pgrecall_agent, pgrecall_reader;",
            )
        )
    if facts.public_may_create:
        label = "every role may create objects in schema public, which agents have on their path"
        checks.append(Check("advice", label, "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"))
    return checks


def _setting_checks(facts: _Facts, *, skew_seconds: float) -> list[Check]:
    checks = [
        _either(
            abs(skew_seconds) < _CLOCK_SECONDS,
            "clocks agree",
            f"no: the server is {skew_seconds:+.0f} s off",
            "set both clocks by NTP: expiry and recency follow the server's",
            otherwise="advice",
        ),
        _either(
            facts.max_connections >= 50,
            f"max_connections {facts.max_connections}",
            "few: each SQL client takes one",
            "ALTER SYSTEM SET max_connections = 100;   and restart",
            otherwise="advice",
        ),
    ]
    if 0 < facts.statement_timeout < 10_000:
        remedy = f"ALTER ROLE {facts.role} SET statement_timeout = 0;"
        label = f"statement_timeout {facts.statement_timeout} ms may end migrations and imports"
        checks.append(Check("advice", label, remedy))
    if facts.jit:
        remedy = f"ALTER DATABASE {facts.database} SET jit = off;"
        checks.append(Check("advice", "jit is on, and slows short statements down", remedy))
    return checks


def _either(
    well: bool, label: str, otherwise_label: str, remedy: str, *, otherwise: Outcome = "failed"
) -> Check:
    if well:
        return Check("ok", label)
    return Check(otherwise, f"{label}: {otherwise_label}", remedy)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
