"""The gRPC surface: a server of its own beside the HTTP one, with the same methods behind it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health
from grpc_reflection.v1alpha import reflection

from codeplane.kernel.config import GrpcConfig
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import BindRefused
from codeplane.surfaces.grpc.handlers import Busy, Handlers, OneToken
from codeplane.surfaces.grpc.tls import Tls, check_binding
from codeplane.surfaces.services.services import SERVICES, Services

_GRACE_SEC = 1.0
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


class GrpcSurface:
    """Every service of the protos over gRPC, with reflection and health."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        config: GrpcConfig,
        host: str,
        stopping: asyncio.Event,
        tls: Tls | None = None,
        require_token: bool = False,
        max_message_bytes: int = 4 * 1024 * 1024,
        max_calls: int = 1000,
        busy: Busy | None = None,
    ) -> None:
        """Refuses an address that others reach unless there are TLS and tokens."""
        check_binding(host, tls=tls, require_token=require_token)
        self._services = Services(conveyor, stopping=stopping)
        self._config = config
        self._host = host
        self._tls = tls
        self._max_message_bytes = max_message_bytes
        self._max_calls = max_calls
        self._busy = busy

    @asynccontextmanager
    async def run(self) -> AsyncIterator[int]:
        """The time during which it is served, and the port."""
        server = grpc.aio.server(
            interceptors=[OneToken()],
            maximum_concurrent_rpcs=self._max_calls,
            options=[
                # Two servers on one port would take turns.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", self._max_message_bytes),
                ("grpc.max_send_message_length", -1),
                # A client may ask whether the server is there, but not all the time.
                ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
            ],
        )
        server.add_generic_rpc_handlers((Handlers(self._services.methods, self._busy),))
        names = [service.full_name for service in SERVICES]
        alive = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(alive, server)
        reflection.enable_server_reflection([*names, _HEALTH, reflection.SERVICE_NAME], server)
        port = self._bind(server)
        await server.start()
        for name in ("", *names):
            await alive.set(name, health_pb2.HealthCheckResponse.SERVING)
        try:
            yield port
        finally:
            await alive.enter_graceful_shutdown()
            await server.stop(_GRACE_SEC)

    def _bind(self, server: grpc.aio.Server) -> int:
        host = f"[{self._host}]" if ":" in self._host else self._host
        address = f"{host}:{self._config.port}"
        try:
            if self._tls is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, self._tls.credentials())
        except RuntimeError as error:
            raise _taken(address) from error
        if not port:
            raise _taken(address)
        return port


def _taken(address: str) -> BindRefused:
    return BindRefused(
        f"gRPC cannot listen on {address}",
        hint="choose another with --set grpc.port=N, 0 for any, or grpc.enabled=false",
    )
