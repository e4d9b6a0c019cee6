"""The gRPC surface: its own port, with the same methods as Connect."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from weakref import WeakSet

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health
from grpc_reflection.v1alpha import reflection

from codeplane.kernel.config import GrpcConfig, ServerConfig
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import BindRefused
from codeplane.surfaces.connections.connections import Connection, Connections
from codeplane.surfaces.connections.listener import Listener
from codeplane.surfaces.grpc.handlers import CallActivity, Handlers, SingleTokenCheck
from codeplane.surfaces.grpc.relay import Relay
from codeplane.surfaces.grpc.slow_requests import SlowRequests
from codeplane.surfaces.grpc.socket_folder import socket_folder
from codeplane.surfaces.grpc.tls import Tls, check_binding
from codeplane.surfaces.services.services import SERVICES, Services

_LOGGER = logging.getLogger(__name__)
_GRACE_SEC = 1.0
# What connections may take to close after that.
_CLOSE_SEC = 2.0
_STREAMS_A_CONNECTION = 100
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


class GrpcSurface:
    """Every service of the protos over gRPC, with reflection and health."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        config: GrpcConfig,
        host: str,
        folder: Path,
        connections: Connections,
        bounds: ServerConfig,
        stopping: asyncio.Event,
        tls: Tls | None = None,
        busy: CallActivity | None = None,
    ) -> None:
        """Refuse an address that others can reach without TLS and tokens; `folder` is for internal sockets."""
        check_binding(host, tls=tls, require_token=bounds.require_token)
        self._services = Services(conveyor, stopping=stopping)
        self._config = config
        self._host = host
        self._tls = tls
        self._folder = folder
        self._connections = connections
        self._bounds = bounds
        self._busy = busy
        self._relays: WeakSet[Relay] = WeakSet()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[int]:
        """Serve within the context, and yield the port."""
        with socket_folder(self._folder) as folder, self._listen() as sock:
            async with AsyncExitStack() as stack:
                own, others = folder / "own", folder / "others"
                await stack.enter_async_context(self._serve_at(own, calls=self._bounds.max_connections))
                await stack.enter_async_context(self._serve_at(others, calls=max(1, self._bounds.max_connections // 4)))
                listener = Listener(
                    sock,
                    self._connections,
                    lambda connection: self._relay(connection, own=str(own), others=str(others)),
                    handshake_sec=self._bounds.header_timeout_sec,
                )
                listener.start()
                try:
                    yield sock.getsockname()[1]
                finally:
                    listener.stop()

    @asynccontextmanager
    async def _serve_at(self, address: Path, *, calls: int) -> AsyncIterator[None]:
        """Run a gRPC server on a Unix socket."""
        bounds = self._bounds
        server = grpc.aio.server(
            interceptors=[
                SlowRequests(timeout_sec=bounds.body_timeout_sec, max_bytes=bounds.max_body_bytes),
                SingleTokenCheck(),
            ],
            maximum_concurrent_rpcs=calls,
            options=[
                ("grpc.max_receive_message_length", bounds.max_body_bytes),
                ("grpc.max_send_message_length", -1),
                ("grpc.max_concurrent_streams", _STREAMS_A_CONNECTION),
                ("grpc.server_handshake_timeout_ms", int(bounds.header_timeout_sec * 1000)),
                # A client may ask whether the server is there, but not all the time.
                ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
            ],
        )
        server.add_generic_rpc_handlers((Handlers(self._services, self._busy),))
        names = [service.full_name for service in SERVICES]
        alive = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(alive, server)
        reflection.enable_server_reflection([*names, _HEALTH, reflection.SERVICE_NAME], server)
        if self._tls is None:
            server.add_insecure_port(f"unix:{address}")
        else:
            server.add_secure_port(f"unix:{address}", self._tls.credentials())
        await server.start()
        for name in ("", *names):
            await alive.set(name, health_pb2.HealthCheckResponse.SERVING)
        try:
            yield
        finally:
            await alive.enter_graceful_shutdown()
            await self._stop(server)

    def _relay(self, connection: Connection, *, own: str, others: str) -> Relay:
        relay = Relay(connection, own=own, others=others, first_bytes_sec=self._bounds.header_timeout_sec)
        self._relays.add(relay)
        return relay

    async def _stop(self, server: grpc.aio.Server) -> None:
        """Stop a server; drop the connections that are left after its grace period."""
        stopping = asyncio.ensure_future(server.stop(_GRACE_SEC))
        await asyncio.wait({stopping}, timeout=_GRACE_SEC + _CLOSE_SEC)
        if not stopping.done():
            for relay in list(self._relays):
                relay.abort()
            await asyncio.wait({stopping}, timeout=_CLOSE_SEC)
        if not stopping.done():
            _LOGGER.warning("the gRPC server does not end, and is left behind")
            stopping.cancel()

    def _listen(self) -> socket.socket:
        """Bind the socket for clients."""
        sock = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((self._host, self._config.port))
            sock.listen(1024)
        except OSError as error:
            sock.close()
            raise _port_taken(f"{self._host}:{self._config.port}") from error
        return sock


def _port_taken(address: str) -> BindRefused:
    return BindRefused(
        f"gRPC cannot listen on {address}",
        hint="choose another with --set grpc.port=N, 0 for any, or grpc.enabled=false",
    )
