"""The composition root: every plane on one foundation, with one conveyor in front of them."""

import asyncio
import difflib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.file_lock import FileLock
from codeplane.adapters.folder_log import FolderLog
from codeplane.adapters.home import prepare_home, refuse_foreign
from codeplane.adapters.rego import Rego
from codeplane.adapters.secret_files import SecretFiles
from codeplane.adapters.yaml_config import LoadedConfig, load_workspace_config
from codeplane.index.service import IndexService
from codeplane.index.worker_process import Workers
from codeplane.index.workspaces.workspaces import Workspaces
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SECOND_NS, Clock, SystemClock
from codeplane.kernel.config import Config
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.declared_operation import FAMILY
from codeplane.kernel.errors import CodePlaneError, ConfigInvalid
from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import ModelProvider
from codeplane.kernel.shared_log import SharedStore
from codeplane.kernel.stages.ports import StagePorts
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import Projection
from codeplane.ledger.retention import Retention
from codeplane.ledger.shared_join import LedgerState, join_shared
from codeplane.observe.health import Health
from codeplane.observe.ledger_metrics import LedgerMetrics
from codeplane.observe.logs import Logs
from codeplane.observe.metrics import Metrics
from codeplane.observe.status import StatusOperations
from codeplane.trust.idempotency import IdempotencyKeys
from codeplane.trust.policy.engine import Engine
from codeplane.wiring.dashboard import DashboardWiring
from codeplane.wiring.edit import Edits
from codeplane.wiring.foundation import Foundation, Start
from codeplane.wiring.ledger import LedgerWiring
from codeplane.wiring.models import ModelsWiring
from codeplane.wiring.observe import ObserveWiring
from codeplane.wiring.part import House, Part, PlaneWiring, Section, Sweep
from codeplane.wiring.repository import RepositoryWiring
from codeplane.wiring.tools import ToolsWiring
from codeplane.wiring.trust import TrustWiring
from codeplane.wiring.work import WorkWiring
from codeplane.wiring.workspaces import WorkspacesWiring
from codeplane.work.sessions import Sessions

__all__ = ["PLANES", "Plane", "load_workspace_config", "prepare_home", "run_plane", "tables"]

# In this order they are built, restored and started, and in reverse order stopped.
PLANES: tuple[type[PlaneWiring], ...] = (
    LedgerWiring,
    RepositoryWiring,
    WorkspacesWiring,
    TrustWiring,
    ModelsWiring,
    WorkWiring,
    ToolsWiring,
    DashboardWiring,
    ObserveWiring,
)
_TURN_SEC = 1.0
_POLICY_SEC = 15.0


def tables() -> tuple[Projection, ...]:
    """The tables of all planes."""
    return tuple(table() for kind in PLANES for table in kind.tables)


@dataclass(slots=True, kw_only=True)
class Plane:
    """A CodePlane that is running in this process, with or without a server around it."""

    workspace: Workspace
    loaded: LoadedConfig
    clock: Clock
    logs: Logs
    log: SqliteLog
    sessions: Sessions
    retention: Retention
    conveyor: Conveyor
    metrics: Metrics
    counted: LedgerMetrics
    index: IndexService
    edits: Edits
    workspaces: Workspaces
    trust: TrustWiring
    work: WorkWiring
    tools: ToolsWiring
    dashboard: DashboardWiring
    secrets: SecretFiles
    token: str
    parts: tuple[Part, ...]

    def problems(self) -> list[str]:
        """The reasons why it is not ready."""
        return [problem for part in self.parts for problem in part.problems()]

    async def until_ready(self) -> None:
        """Wait briefly until calls can be decided; without a usable policy they are denied."""
        await asyncio.wait({asyncio.ensure_future(asyncio.to_thread(self.trust.policy.warm, _POLICY_SEC))})


@asynccontextmanager
async def run_plane(
    workspace: Workspace,
    *,
    loaded: LoadedConfig,
    operations: Sequence[object] = (),
    health: Health | None = None,
    clock: Clock | None = None,
    engine: Engine | None = None,
    workers: Workers | None = None,
    models: Mapping[str, ModelProvider] | None = None,
) -> AsyncIterator[Plane]:
    """Run CodePlane on a workspace: lock it, open and recover the log, wire the planes, and undo it at the end.

    Programs that run many, one after the other, may give all of them the same `engine` of policies and `workers`. Those
    that bring `models` along name their providers; each is asked as the model `default` of that name.
    """
    clock = clock or SystemClock()
    refuse_foreign(workspace)
    async with AsyncExitStack() as stack:
        prepare_home(workspace)
        lock = FileLock(workspace.lock)
        lock.acquire()
        stack.callback(lock.release)
        if engine is None:
            # First of all, since nothing is decided before its process is there.
            rego = Rego(timeout_ms=loaded.config.policy.timeout_ms)
            stack.callback(rego.close)
            rego.prepare()
            engine = rego
        logs = Logs(config=loaded.config.logging, clock=clock, file=workspace.log)
        stack.callback(logs.close)
        shared, shared_key = await _join_shared(workspace, loaded.config)
        if shared is not None:
            stack.push_async_callback(shared.close)
        start = Start(
            workspace=workspace,
            loaded=loaded,
            clock=clock,
            health=health or Health(),
            logs=logs,
            engine=engine,
            workers=workers or Workers(),
            models=models or {},
            shared=shared,
            shared_key=shared_key,
        )
        foundation = Foundation.of(start, Catalogue(), tables())
        stack.push_async_callback(foundation.close)
        # Before anything is restored from the tables.
        await foundation.log.start()
        plane = _wire(foundation, operations)
        for part in plane.parts:
            stack.push_async_callback(part.stop)
        await _restore(plane)
        stack.push_async_callback(_last_sweep, plane.conveyor)
        for part in plane.parts:
            part.start()
        loops = [_background(plane), *(task() for part in plane.parts for task in part.tasks)]
        for loop in loops:
            stack.push_async_callback(_cancel, asyncio.ensure_future(loop))
        yield plane


async def _join_shared(workspace: Workspace, config: Config) -> tuple[SharedStore | None, bytes | None]:
    """The shared log that the settings name, and its key; None without one."""
    if not config.ledger.shared:
        return None, None
    state = await asyncio.to_thread(LedgerState.at, workspace.ledger)
    shared = FolderLog(Path(config.ledger.shared), node=state.node)
    try:
        identity = await join_shared(shared, workspace.ledger)
    except BaseException:
        await shared.close()
        raise
    return shared, identity.key


def _wire(foundation: Foundation, operations: Sequence[object]) -> Plane:
    house = House(foundation)
    for kind in PLANES:
        house.add(kind)
    trust, work, repository = house.plane(TrustWiring), house.plane(WorkWiring), house.plane(RepositoryWiring)
    workspaces = house.plane(WorkspacesWiring).workspaces
    conveyor = Conveyor(
        catalogue=foundation.catalogue,
        ports=StagePorts(
            identity=trust.identity.identities,
            authority=trust.authority,
            approver=trust.approvals,
            tasks=work.sessions,
            idempotency=IdempotencyKeys(foundation.log, is_shared=foundation.log.is_shared),
            log=foundation.log,
            blobs=foundation.log,
            repo=repository.state_hash,
            observer=foundation.metrics,
            clock=foundation.clock,
            redactor=foundation.outward,
            tracer=foundation.tracing.tracer,
            elsewhere=workspaces.elsewhere,
            job_operation=work.trees.operation_of,
        ),
    )
    parts = house.parts(conveyor)
    foundation.catalogue.add(owner for part in parts for owner in part.operations)
    foundation.catalogue.add([StatusOperations(parts=_sections(parts)), *operations])
    foundation.metrics.include(*(collector for part in parts for collector in part.collectors))
    _check_names(foundation.config, foundation.catalogue)
    return Plane(
        workspace=foundation.workspace,
        loaded=foundation.loaded,
        clock=foundation.clock,
        logs=foundation.logs,
        log=foundation.log,
        sessions=work.sessions,
        retention=house.plane(LedgerWiring).retention,
        conveyor=conveyor,
        metrics=foundation.metrics,
        counted=house.plane(ObserveWiring).counted,
        index=repository.index,
        edits=repository.edits,
        workspaces=workspaces,
        trust=trust,
        work=house.plane(WorkWiring),
        tools=house.plane(ToolsWiring),
        dashboard=house.plane(DashboardWiring),
        secrets=foundation.secrets,
        token=foundation.token,
        parts=parts,
    )


def _sections(parts: Sequence[Part]) -> dict[str, Section]:
    """The sections of `status`; parts that name the same one add to it."""
    by_name: dict[str, list[Section]] = {}
    for part in parts:
        for name, section in part.status.items():
            by_name.setdefault(name, []).append(section)

    def join_sections(sections: Sequence[Section]) -> Section:
        async def section(call: Call) -> JsonObject:
            found: JsonObject = {}
            for part in sections:
                state = part(call)
                found |= state if isinstance(state, dict) else await state
            return found

        return section

    return {name: sections[0] if len(sections) == 1 else join_sections(sections) for name, sections in by_name.items()}


def _check_names(config: Config, catalogue: Catalogue) -> None:
    """Refuse settings that name unknown operations or families: a gate meant to open would stay shut silently."""
    known = {found.name for found in catalogue} | catalogue.disabled.keys()
    for name in config.trust.allow:
        # Declared operations come later.
        if name not in known and not name.startswith(f"{FAMILY}."):
            near = difflib.get_close_matches(name, known, n=1)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigInvalid(
                f"trust.allow names {name!r}, which is no operation{advice}", hint="cpl call lists them"
            )
    toolsets = {"all", "core", FAMILY, *catalogue.families(), *config.mcp.servers, *config.tools.plugins}
    for name in filter(None, map(str.strip, config.mcp.toolset.lower().split(","))):
        # Tools of servers come later.
        if name not in toolsets and not name.startswith(f"{FAMILY}."):
            raise ConfigInvalid(f"mcp.toolset names {name!r}", hint=f"use {', '.join(sorted(toolsets))}")


async def _restore(plane: Plane) -> None:
    unfinished: JsonObject = {}
    for part in plane.parts:
        unfinished |= await part.restore()
    if unfinished:
        plane.logs.logger("codeplane").warning("the last run was interrupted", **unfinished)


async def _background(plane: Plane) -> None:
    """Run the sweeps of all parts when due; one that fails does not stop the others."""
    logger, clock = plane.logs.logger("codeplane"), plane.clock
    started_ns = clock.monotonic_ns()
    due: list[tuple[int, Sweep]] = [
        (started_ns if sweep.at_start else started_ns + int(sweep.every_sec * SECOND_NS), sweep)
        for sweep in (Sweep(run=plane.conveyor.sweep), *(sweep for part in plane.parts for sweep in part.sweeps))
    ]
    while True:
        await asyncio.sleep(_TURN_SEC)
        for number, (at_ns, sweep) in enumerate(due):
            if (now_ns := clock.monotonic_ns()) < at_ns:
                continue
            due[number] = now_ns + int(sweep.every_sec * SECOND_NS), sweep
            try:
                await sweep.run()
            except CodePlaneError as error:
                logger.error("housekeeping failed", error=error.name, reason=error.message)
            except Exception as error:
                logger.error("housekeeping failed", exc_info=error)


async def _last_sweep(conveyor: Conveyor) -> None:
    # What the log cannot take any more was only counted.
    with suppress(CodePlaneError):
        await conveyor.sweep(is_closing=True)


async def _cancel(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
