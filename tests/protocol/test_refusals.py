"""The gateway's own SQLSTATEs are those of Postgres's table."""

from __future__ import annotations

import pytest
from psycopg.errors import lookup

from gateway import refusals
from gateway.protocol.backend import ErrorResponse

NAMES = {
    refusals.CannotConnect("x"): "ConnectionFailure",
    refusals.WrongPassword(b"x"): "InvalidPassword",
    refusals.NotAuthorized("x"): "InvalidAuthorizationSpecification",
    refusals.BadProtocol("x"): "ProtocolViolation",
    refusals.BadProtocol("x", sqlstate="0A000"): "FeatureNotSupported",
    refusals.TooManyClients("x"): "TooManyConnections",
    refusals.ShuttingDown(): "AdminShutdown",
    refusals.IdleTooLong(): "IdleSessionTimeout",
    refusals.LoginTooSlow(): "QueryCanceled",
}


@pytest.mark.parametrize(("refusal", "name"), NAMES.items(), ids=NAMES.values())
def test_a_refusal_carries_the_code_that_postgres_has_for_it(
    refusal: refusals.Refusal, name: str
) -> None:
    response = ErrorResponse.decode(refusal.encode()[5:])
    assert response.get(b"V") == b"FATAL"
    code = (response.get(b"C") or b"").decode()
    assert lookup(code).__name__ == name


def test_a_refusal_of_postgres_is_passed_on_with_its_code() -> None:
    response = ErrorResponse(((b"S", b"FATAL"), (b"C", b"3D000"), (b"M", b"no"))).encode()
    forwarded = refusals.Forwarded(response)
    assert (forwarded.response, forwarded.sqlstate) == (response, "3D000")
