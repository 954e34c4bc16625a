"""The certificate that clients see, read again when its files change."""

from __future__ import annotations

import hashlib
import ssl
from dataclasses import dataclass
from typing import Final

import structlog
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding

from gateway.config import Tls

_log = structlog.get_logger(__name__)

ALPN_PROTOCOL: Final = "postgresql"


@dataclass(frozen=True, slots=True)
class ServerTls:
    """A loaded certificate; `channel_binding` is None where it has no hash to bind with."""

    context: ssl.SSLContext
    channel_binding: bytes | None


class CertificateStore:
    """Loads the certificate, and loads it anew once either file has changed.

    A pair that can't be loaded (half-written, say) is logged, and the last good one serves on.
    Raises OSError (ssl.SSLError is one) when the very first can't be loaded.
    """

    def __init__(self, files: Tls) -> None:
        self._files = files
        self._stamp = self._stamped()
        self._loaded = _load(files)

    def current(self) -> ServerTls:
        """Return the newest certificate that could be loaded."""
        stamp = self._stamped()
        if stamp != self._stamp:
            try:
                self._loaded = _load(self._files)
                _log.info("certificate_reloaded", path=str(self._files.certificate))
            except (OSError, ValueError) as error:
                _log.warning("certificate_not_reloaded", error=str(error))
            self._stamp = stamp
        return self._loaded

    def _stamped(self) -> tuple[tuple[int, int], ...]:
        try:
            found = [path.stat() for path in (self._files.certificate, self._files.key)]
        except OSError:
            return ()
        return tuple((status.st_mtime_ns, status.st_ino) for status in found)


def _load(files: Tls) -> ServerTls:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([ALPN_PROTOCOL])
    context.load_cert_chain(files.certificate, files.key)
    leaf = x509.load_pem_x509_certificates(files.certificate.read_bytes())[0]
    return ServerTls(context, end_point_hash(leaf))


def end_point_hash(certificate: x509.Certificate) -> bytes | None:
    """Return tls-server-end-point (RFC 5929, section 4.1); None for Ed25519, which has no hash."""
    try:
        algorithm = certificate.signature_hash_algorithm
    except UnsupportedAlgorithm:
        return None
    if algorithm is None:
        return None
    name = "sha256" if algorithm.name in ("md5", "sha1") else algorithm.name
    return hashlib.new(name, certificate.public_bytes(Encoding.DER)).digest()
