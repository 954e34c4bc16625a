"""What a running `up` tells other processes of this machine, and the first agent's secrets."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from urllib.parse import quote

from pgrecall.errors import PgrecallError
from pgrecall.state_folder import StateFolder, write_private


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where SQL clients connect."""

    host: str
    port: int
    database: str
    tls: bool

    def url(self, user: str | None = None, password: str | None = None) -> str:
        """Return the connection URL, of a user if one is given."""
        secret = f":{quote(password)}" if password else ""
        login = f"{quote(user)}{secret}@" if user else ""
        return f"postgresql://{login}{_bracketed(self.host)}:{self.port}/{self.database}"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The content of endpoints.json: there while `up` accepts connections, gone when it stops.

    `http` is the URL, without a path, under which REST, MCP and the documentation answer.
    """

    version: str
    pid: int
    started_at: str
    gateway: Gateway
    http: str
    rest: str
    mcp: str

    def write(self, state: StateFolder) -> None:
        """Announce them; whole or not at all."""
        write_private(state.endpoints_file, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, state: StateFolder) -> Endpoints | None:
        """Return those of the running `up`, None when none runs, whatever a killed one left."""
        told = state.read_json(state.endpoints_file)
        holder = state.holder()
        if told is None or holder is None or told.get("pid") != holder.pid:
            return None
        try:
            return cls(**(told | {"gateway": Gateway(**told["gateway"])}))
        except (KeyError, TypeError):  # written by another version
            return None

    @classmethod
    def require(cls, state: StateFolder) -> Endpoints:
        """Return those of the running `up`; raises PgrecallError when none runs."""
        if (running := cls.read(state)) is None:
            raise PgrecallError(
                f"nothing runs over the state folder {state.path}", hint="start it: pgrecall up"
            )
        return running


def http_url(host: str, port: int) -> str:
    """Return the URL, without a path, of an HTTP server that listens there."""
    return f"http://{_bracketed(reachable(host))}:{port}"


def reachable(host: str) -> str:
    """Return the address by which this machine reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The content of credentials.json: how the first agent logs in."""

    agent: str
    token: str
    password: str | None

    def write(self, state: StateFolder) -> None:
        """Keep them in a file that only its owner can read."""
        write_private(state.credentials_file, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, state: StateFolder) -> Credentials | None:
        """Return them, None when there are none yet."""
        told = state.read_json(state.credentials_file)
        return None if told is None else cls(**told)

    @classmethod
    def require(cls, state: StateFolder, agent: str | None = None) -> Credentials:
        """Return those of the agent, the first one by default; raises PgrecallError without."""
        kept = cls.read(state)
        if kept is None:
            raise PgrecallError(
                f"no credentials in the state folder {state.path}", hint="pgrecall up makes them"
            )
        if agent not in (None, kept.agent):
            raise PgrecallError(
                f"the secrets of {agent} were shown once and are not kept",
                hint=f"pgrecall agent rotate {agent} makes new ones",
            )
        return kept


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
