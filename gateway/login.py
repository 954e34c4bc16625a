"""The client's side of a login: startup, proof, and only then a backend."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime

from gateway.channel import Channel
from gateway.config import LoginSecret, LoginSecrets, Upstream
from gateway.protocol import backend, frontend
from gateway.protocol.errors import Malformed
from gateway.protocol.scram import (
    ProofRefused,
    ScramError,
    ServerExchange,
    Verifier,
    new_nonce,
)
from gateway.protocol.startup import StartupMessage
from gateway.refusals import BadProtocol, CannotConnect, NotAuthorized, WrongPassword
from gateway.upstream import Credentials
from sql.errors import StoreError


class Logins:
    """Checks clients' proofs against the logins' verifiers."""

    def __init__(self, login_secrets: LoginSecrets, mock_secret: bytes | None) -> None:
        self._login_secrets = login_secrets
        self._mock_secret = mock_secret or secrets.token_bytes(32)

    async def authenticate(
        self, channel: Channel, startup: StartupMessage, channel_binding: bytes | None
    ) -> Credentials:
        """Run the SASL exchange up to the server's last message; raises Refusal.

        Where there is no such login, the exchange runs all the same and fails at its end.
        """
        if not startup.user:
            raise NotAuthorized("no PostgreSQL user name specified in startup packet")
        verifier = await self._verifier(startup.user)
        exchange = ServerExchange(verifier, new_nonce(), channel_binding)
        try:
            channel.write(backend.Authentication.sasl(exchange.mechanisms).encode())
            initial = frontend.SASLInitialResponse.decode(await _sasl_message(channel))
            server_first = exchange.first(initial.mechanism, initial.response or b"")
            channel.write(backend.Authentication(backend.SASL_CONTINUE, server_first).encode())
            accepted = exchange.final(await _sasl_message(channel))
        except ProofRefused as error:
            raise WrongPassword(startup.user) from error
        except ScramError as error:
            raise BadProtocol(str(error), sqlstate=error.sqlstate) from error
        channel.write(backend.Authentication(backend.SASL_FINAL, accepted.server_final).encode())
        return Credentials(accepted.client_key, verifier)

    async def _verifier(self, user: bytes) -> Verifier:
        try:
            login = await self._login_secrets(user.decode())
        except UnicodeDecodeError:
            login = None
        except StoreError as error:
            raise CannotConnect("the database can't be reached") from error
        if login is not None and not _expired(login):
            verifier = Verifier.parse(login.secret)
            if verifier is not None:
                return verifier
        return Verifier.mock(self._mock_secret, user)


def _expired(login: LoginSecret) -> bool:
    return login.valid_until is not None and login.valid_until <= datetime.now(UTC)


async def _sasl_message(channel: Channel) -> bytes:
    tag, body = await channel.message(frontend.MAX_SASL_MESSAGE_BYTES)
    if tag != frontend.PASSWORD_TAG:
        raise Malformed(f"expected SASL response, got message type {tag}")
    return body


def with_database(startup: StartupMessage, upstream: Upstream) -> StartupMessage:
    """Name the upstream's database where the client named none or, as libpq does, its user."""
    named = startup.parameters.get(b"database") or startup.user
    if upstream.database is None or named != startup.user:
        return startup
    parameters = {**startup.parameters, b"database": upstream.database.encode()}
    return replace(startup, parameters=parameters)
