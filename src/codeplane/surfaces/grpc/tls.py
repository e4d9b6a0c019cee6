"""TLS of the gRPC server."""

from dataclasses import dataclass
from ipaddress import ip_address

import grpc

from codeplane.kernel.errors import BindRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM texts; with `client_ca`, clients must show a certificate signed by it."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """Return gRPC's server credentials."""
        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)],
            root_certificates=self.client_ca,
            require_client_auth=self.client_ca is not None,
        )


def check_binding(host: str, *, tls: Tls | None, require_token: bool) -> None:
    """Refuse an address that others can reach without TLS and tokens."""
    try:
        loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback and not (tls is not None and require_token):
        raise BindRefused(
            f"gRPC on {host!r} would be reached from other machines without TLS or without tokens",
            hint="set server.tls and server.require_token, or server.host to 127.0.0.1",
        )
