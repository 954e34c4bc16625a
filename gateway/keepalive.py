"""How a peer that vanished without a word is noticed.

By the kernel's defaults a probe comes after two hours; here an idle connection's dead peer is found
within two minutes. TCP_USER_TIMEOUT stays off, as in Postgres: it would also end a client that is
alive and only reads nothing for a while.
"""

from __future__ import annotations

import socket
from typing import Final

# What each system has of it; the rest stays at its defaults.
_OPTIONS: Final = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}


def keep_alive(connection: socket.socket) -> None:
    """Have the kernel probe an idle TCP connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS.items():
        option = getattr(socket, name, None)
        if option is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
