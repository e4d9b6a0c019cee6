"""The server: the surfaces around a running plane."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

import codeplane
from codeplane import __version__
from codeplane.adapters.bonjour import announced, check_announcement
from codeplane.adapters.certificates import Tls, load_tls
from codeplane.adapters.file_limit import raise_file_limit
from codeplane.adapters.file_replacement import replace_file
from codeplane.adapters.peer_account import PeerAccounts
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.kernel.binding import address, may_bind
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import INSTANCE_HEADER, Workspace
from codeplane.observe.health import Health
from codeplane.surfaces.connect.surface import ConnectSurface
from codeplane.surfaces.connections.connections import Connections, Limits
from codeplane.surfaces.http.activity import Activity
from codeplane.surfaces.http.application import build_application
from codeplane.surfaces.http.binding import bind, bind_tls
from codeplane.surfaces.http.events import EventStream
from codeplane.surfaces.http.guard import Guard
from codeplane.surfaces.http.probes import Probes
from codeplane.surfaces.http.server import HttpServer
from codeplane.surfaces.http.shutdown import UntilShutdown
from codeplane.surfaces.mcp.mount import McpMount
from codeplane.surfaces.web.surface import WebSurface
from codeplane.surfaces.ws.events import EventSocket
from codeplane.trust.identity import is_owner_token
from codeplane.wiring.app import Plane, run_plane
from codeplane.wiring.program_surfaces import program_routes

if TYPE_CHECKING:
    from codeplane.surfaces.mcp.resources import ResourceSource
    from codeplane.surfaces.mcp.server import McpSurface

_THREADS = 64
_IDLE_CHECK_SEC = 5.0
_KNOWN_SEC = 1.0
# What the server has open beside connections: the log, indexes, pipes of children.
_OTHER_FILES = 400
# A gRPC connection is passed on by two more sockets.
_FILES_A_CONNECTION = 3
# New objects until the collector looks at them, and how often until it looks at older ones: a call makes thousands.
_COLLECTED_AFTER = (10_000, 20, 20)


def settle_collector() -> None:
    """Exclude loaded objects from garbage collection, and collect new ones rarely."""
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AFTER)


class Serving:
    """One server on one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        loaded: LoadedConfig,
        detached: bool = False,
        operations: Sequence[object] = (),
        resources: "Sequence[ResourceSource]" = (),
        announce: Callable[[JsonObject], None] | None = None,
    ) -> None:
        self._workspace = workspace
        self._loaded = loaded
        self._config = loaded.config.server
        self._detached = detached
        self._operations = operations
        self._resources = resources
        self._announce = announce
        self._health = Health()
        # The owner's programs know their server by it.
        self._instance = new_id("server")
        self._stopping = asyncio.Event()
        self._drained = asyncio.Event()
        self._beside: list[asyncio.Future[None]] = []
        self._home: tuple[int, int] | None = None

    async def run(self) -> None:
        """Serve until stopped."""
        may_bind(self._config)
        check_announcement(self._config)
        # By default there are four threads more than cores, and calls of many clients wait for disks, not for cores.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="codeplane"))
        async with run_plane(
            self._workspace, loaded=self._loaded, operations=self._operations, health=self._health
        ) as plane:
            plane.logs.capture_stdlib()
            logger = plane.logs.logger("codeplane")
            plane.index.start()
            plane.work.start_engine(plane.conveyor)
            plane.trust.delivery.start()
            await plane.tools.start_servers()
            plane.work.start_schedules()
            listener = bind(self._config, self._workspace.root)
            host, port = listener.getsockname()[:2]
            self._health.port = port
            secured = load_tls(
                self._config, folder=self._workspace.tls, now_ns=plane.clock.now_ns(), root=self._workspace.root
            )
            secure = (bind_tls(self._config, self._workspace.root), secured.context()) if secured is not None else None
            ports = [port, *([secure[0].getsockname()[1]] if secure is not None else [])]
            mount = McpMount(lambda: self._mcp(plane), stopping=self._stopping)
            activity = Activity(plane.clock.monotonic_ns)
            guarded = Guard(
                self._application(plane, mount),
                config=self._config,
                host=host,
                ports=ports,
                activity=activity,
                is_owner=lambda token: is_owner_token(token, plane.token.encode()),
                identify=plane.trust.identity.identities.identify,
                record_refusal=plane.conveyor.refuse,
            )
            connections = Connections(PeerAccounts(), self._limits(logger))
            server = HttpServer(
                guarded,
                stopping=self._stopping,
                headers={INSTANCE_HEADER: self._instance.encode()},
                own_headers={"x-codeplane-repo": self._workspace.header},
                connections=connections,
                bounds=self._config,
            )
            facts = self._facts(plane, host, port)
            if secured is not None:
                facts |= {
                    "tls_url": f"https://{_in_url(_public_host(self._config))}:{ports[1]}",
                    "tls_fingerprint": secured.fingerprint,
                }
            failed: CodePlaneError | None = None
            try:
                async with (
                    mount.run(),
                    self._grpc(plane, secured, activity, connections) as grpc_port,
                    announced(self._config, secured, port=ports[-1], logger=logger),
                ):
                    if grpc_port:
                        at = _in_url(address(self._config.host))
                        facts |= {"grpc_port": grpc_port, "grpc_address": f"{at}:{grpc_port}"}
                    # The compiler had time to be done until here, so that the first call finds a policy.
                    await plane.until_ready()
                    try:
                        await server.run(
                            listener,
                            ready=lambda: self._announce_ready(plane, facts, logger, activity),
                            drain=lambda: self._drain(plane),
                            secure=secure,
                        )
                    except CodePlaneError as error:
                        # Raised below: whatever leaves the task group above leaves it in an exception group.
                        failed = error
                logger.info("server ended", port=port)
            finally:
                for task in self._beside:
                    task.cancel()
                self._remove_address(logger)
            if failed is not None:
                raise failed

    @asynccontextmanager
    async def _grpc(
        self, plane: Plane, secured: Tls | None, activity: Activity, connections: Connections
    ) -> AsyncIterator[int]:
        """The gRPC server beside the HTTP one, and its port; 0 when it is switched off."""
        config = self._loaded.config
        if not config.grpc.enabled:
            yield 0
            return
        # Its own code would run in every child between fork and exec, and crash some of them there: git, tests, shells.
        os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
        # Slow to import, and not everyone wants it.
        from codeplane.surfaces.grpc.surface import GrpcSurface
        from codeplane.surfaces.grpc.tls import Tls as GrpcTls

        shown = None
        if secured is not None:
            shown = GrpcTls(certificate=secured.certificate, key=secured.key, client_ca=secured.client_ca)
        surface = GrpcSurface(
            conveyor=plane.conveyor,
            config=config.grpc,
            host=address(self._config.host),
            folder=self._workspace.grpc,
            stopping=self._stopping,
            tls=shown,
            connections=connections,
            bounds=self._config,
            busy=activity,
        )
        async with surface.run() as port:
            yield port

    def _limits(self, logger: FilteringBoundLogger) -> Limits:
        """The limits on connections, as far as the system lets this process open files."""
        wanted = self._config.max_connections
        able = max(
            1, (raise_file_limit(wanted * _FILES_A_CONNECTION + _OTHER_FILES) - _OTHER_FILES) // _FILES_A_CONNECTION
        )
        if able < wanted:
            logger.warning("the system's limit on open files bounds connections", wanted=wanted, connections=able)
        return Limits(all=min(wanted, able), per_account=min(self._config.max_connections_per_account, wanted))

    def _mcp(self, plane: Plane) -> "McpSurface":
        from codeplane.surfaces.mcp.apps import AppResources
        from codeplane.surfaces.mcp.resources import DocResources, LedgerResources, Resources
        from codeplane.surfaces.mcp.server import McpSurface

        package = Path(codeplane.__file__).parent
        docs = package / "_docs"
        sources: list[ResourceSource] = [
            LedgerResources(plane.conveyor),
            DocResources(docs if docs.is_dir() else package.parents[1] / "docs"),
            AppResources(),
            *self._resources,
        ]
        return McpSurface(
            conveyor=plane.conveyor,
            resources=Resources(sources),
            version=__version__,
            default_toolset=self._loaded.config.mcp.toolset,
            session_idle_sec=self._loaded.config.sessions.idle_timeout_sec,
            max_body_bytes=self._config.max_body_bytes,
            max_sessions=self._loaded.config.sessions.max_open,
            on_disconnect=plane.sessions.disconnect,
            deferred=plane.work.deferred,
        )

    def _application(self, plane: Plane, mount: McpMount) -> ASGIApp:
        identity: JsonObject = {"version": __version__, "instance": self._instance, "pid": os.getpid()}
        probes = Probes(
            conveyor=plane.conveyor,
            identity=identity,
            ending=self._stopping.is_set,
            problems=lambda: self._problems(plane),
            metrics=plane.metrics.render,
            identify=plane.trust.identity.identities.identify,
            are_metrics_open=self._loaded.config.observe.metrics_open,
        )
        streams = UntilShutdown(mount.http, self._stopping, announce=True)

        async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
            await (streams if scope["method"] == "GET" else mount.http)(scope, receive, send)

        routes = [
            # First, since routes are tried one after another and most requests are for it.
            Route("/mcp", _Endpoint(mcp)),
            Route("/mcp/stdio", _Endpoint(UntilShutdown(mount.stdio, self._drained, announce=False))),
            *probes.routes(),
            *ConnectSurface(
                plane.conveyor, stopping=self._stopping, max_message_bytes=self._config.max_body_bytes
            ).routes(),
            *EventStream(conveyor=plane.conveyor, stopping=self._stopping).routes(),
            *EventSocket(conveyor=plane.conveyor, stopping=self._stopping).routes(),
            *program_routes(plane, self._loaded.config, root=self._workspace.root, stopping=self._drained),
            *WebSurface(
                conveyor=plane.conveyor,
                sign_ins=plane.dashboard.sign_ins,
                stopping=self._stopping,
                repository=str(self._workspace.root),
                repository_id=digest(self._workspace.header),
                version=__version__,
            ).routes(),
        ]
        return build_application(routes)

    def _problems(self, plane: Plane) -> list[str]:
        return (["the server is ending"] if self._stopping.is_set() else []) + plane.problems()

    def _facts(self, plane: Plane, host: str, port: int) -> JsonObject:
        return {
            "pid": os.getpid(),
            "host": host,
            "port": port,
            "url": f"http://{_in_url(host)}:{port}",
            "repo": str(self._workspace.root),
            "instance": self._instance,
            "version": __version__,
            "detached": self._detached,
            "started_at": rfc3339(plane.clock.now_ns()),
        }

    def _announce_ready(
        self, plane: Plane, facts: JsonObject, logger: FilteringBoundLogger, activity: Activity
    ) -> None:
        settle_collector()
        gc.enable()
        activity.start()
        self._home = _identity(self._workspace.home)
        self._write_address(facts)
        beside = (self._end_when_idle(plane, activity), self._keep_address(facts, logger))
        self._beside = [asyncio.ensure_future(task) for task in beside]
        logger.info("server started", **facts)
        if self._announce is not None:
            self._announce(facts)

    def _write_address(self, facts: JsonObject) -> None:
        replace_file(self._workspace.server, dumps(facts) + "\n")
        replace_file(self._workspace.port, f"{facts['port']}\n")

    async def _keep_address(self, facts: JsonObject, logger: FilteringBoundLogger) -> None:
        """Write the server's address again when it was deleted: clients find the server by it."""
        while True:
            await asyncio.sleep(_KNOWN_SEC)
            if self._is_home_gone():
                # As when its work tree was removed: to write into the folder would only bring a part of it back.
                logger.error("the server ends, since its .codeplane/ was removed", home=str(self._workspace.home))
                self._stopping.set()
                return
            if self._workspace.server.exists() and self._workspace.port.exists():
                continue
            # Others report a folder that cannot be written.
            with suppress(CodePlaneError):
                self._write_address(facts)
                logger.warning("the server's address was deleted, and is written down again", port=facts["port"])

    def _is_home_gone(self) -> bool:
        """Whether the served folder is gone or replaced."""
        return self._home is not None and _identity(self._workspace.home) != self._home

    def _remove_address(self, logger: FilteringBoundLogger) -> None:
        if self._is_home_gone():
            # What lies there now is another server's.
            return
        for path in (self._workspace.port, self._workspace.server):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                # Readers ask the address whether it serves this repository.
                logger.warning("a file could not be removed", file=str(path), reason=error.strerror)

    async def _drain(self, plane: Plane) -> None:
        plane.work.deferred.release_waiting()
        left = await plane.conveyor.drain(self._config.shutdown_timeout_sec)
        if left:
            plane.logs.logger("codeplane").warning("calls were still running and are cut off", calls=left)
        self._drained.set()

    async def _end_when_idle(self, plane: Plane, activity: Activity) -> None:
        limit = self._config.idle_exit_sec
        while self._detached and limit:
            await asyncio.sleep(min(_IDLE_CHECK_SEC, limit))
            # Work goes on though nobody looks, and schedules wake.
            if activity.idle_sec() > limit and not plane.work.keeps_server_up:
                self._stopping.set()
                return


def _public_host(config: ServerConfig) -> str:
    """The name by which others reach the server; for the unspecified address the first allowed host, if any."""
    if not ip_address(address(config.host)).is_unspecified:
        return config.host
    return next(iter(config.allowed_hosts), config.host)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Endpoint:
    """An ASGI application that Starlette does not take for a request handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
