"""Listening sockets, bound before anything is started on them."""

from __future__ import annotations

import errno
import socket

import psutil

from pgrecall.errors import PgrecallError, PortInUse


def listen(host: str, port: int, *, option: str) -> socket.socket:
    """Return a socket that listens; a port of 0 is a free one.

    Raises PortInUse, which names who has it where that may be seen; `option` is what would move
    us elsewhere.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise PgrecallError(f"no such address: {host}", hint=f"see {option}-host") from error
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except OSError as error:
        made.close()
        if error.errno != errno.EADDRINUSE:
            raise PgrecallError(
                f"can't listen on {host}:{port}: {(error.strerror or str(error)).lower()}",
                hint=f"give another address with {option}-host or {option}-port",
            ) from error
        raise port_in_use(host, port, option=option) from error
    return made


def port_in_use(host: str, port: int, *, option: str) -> PortInUse:
    """Return the error for a port that somebody has."""
    return PortInUse(
        f"port {port} of {host} is in use{_by(port)}",
        hint=f"stop that, or give another with {option}-port (0 picks a free one)",
    )


def _by(port: int) -> str:
    try:
        for connection in psutil.net_connections("tcp"):
            at = connection.laddr
            listens = connection.status == psutil.CONN_LISTEN and at and at.port == port
            if listens and connection.pid:
                return f" by process {connection.pid} ({psutil.Process(connection.pid).name()})"
    except psutil.Error:
        pass
    return ""
