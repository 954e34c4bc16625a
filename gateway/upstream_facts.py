"""What is believed of the upstream, and asked anew when a minute has passed.

Both may change under a running gateway: the schema can be made anew, and another Postgres can take
the place of this one.
"""

from __future__ import annotations

import time
from typing import Final

from gateway.channel import Channel
from gateway.config import Upstream
from gateway.protocol.startup import NEWEST_MINOR, StartupMessage
from gateway.refusals import CannotConnect
from gateway.upstream import embedding_oid, newest_minor

_BELIEVED_SECONDS: Final = 60.0


class UpstreamFacts:
    """The newest protocol that it speaks, and the OID of memory.query_embedding in a database."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._minor = 0
        self._minor_until = 0.0
        self._oids: dict[bytes, tuple[int, float]] = {}  # by database, with when to ask again

    async def newest_minor(self, asked: StartupMessage) -> int:
        """Return the newest minor version that both the upstream and the gateway speak.

        A client that asks for 3.0, as nearly all do, costs no question.
        """
        if asked.minor == 0:
            return NEWEST_MINOR
        if time.monotonic() >= self._minor_until:
            try:
                self._minor = await newest_minor(self._upstream, asked)
            except CannotConnect:
                return 0  # the login won't get far
            self._minor_until = time.monotonic() + _BELIEVED_SECONDS
        return self._minor

    async def embedding_oid(self, channel: Channel, startup: StartupMessage) -> int | None:
        """Return the OID in the session's database, asked over its backend, which is idle.

        None where the role can't see the type, and for replication, which takes no query.
        """
        if b"replication" in startup.parameters:
            return None
        database = startup.parameters.get(b"database") or startup.user
        oid, until = self._oids.get(database, (None, 0.0))
        if oid is None or time.monotonic() >= until:
            oid = await embedding_oid(channel)
            if oid is not None:
                self._oids[database] = (oid, time.monotonic() + _BELIEVED_SECONDS)
        return oid
