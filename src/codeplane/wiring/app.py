"""The composition root: the only file that knows everything."""

import asyncio
import difflib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

from codeplane import __version__
from codeplane.adapters.disk import refusal
from codeplane.adapters.file_lock import FileLock
from codeplane.adapters.home import prepare, refuse_foreign
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.adapters.secret_files import EMPTY, SecretFiles
from codeplane.adapters.yaml_config import LoadedConfig, configuration
from codeplane.edit.recovery import record
from codeplane.git.read.state_hash import StateHash
from codeplane.git.safety.recovery_secrets import cleared
from codeplane.git.write.pending import Pending
from codeplane.index.parser_pool import Workers
from codeplane.index.service import IndexService
from codeplane.index.workspaces.workspaces import Workspaces
from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SECOND_NS, Clock, SystemClock
from codeplane.kernel.config import Config
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CodePlaneError, ConfigInvalid
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.secret_files import SecretRules
from codeplane.kernel.stages.ports import StagePorts
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.following import FollowOperations
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.operations import LedgerOperations
from codeplane.ledger.retention import Retention
from codeplane.observe.catalogue import CatalogueOperations
from codeplane.observe.gauges import Gauges
from codeplane.observe.health import Health
from codeplane.observe.index_metrics import IndexMetrics
from codeplane.observe.ledger_metrics import LedgerMetrics
from codeplane.observe.logs import Logs
from codeplane.observe.metrics import Metrics
from codeplane.observe.status import StatusOperations, daemon_part, resident_bytes
from codeplane.observe.streams import Streams
from codeplane.observe.tracing import Tracing
from codeplane.refactor.decisions.table import DecisionTable
from codeplane.refactor.scip.tools import newest_by_language
from codeplane.trust.idempotency import IdempotencyKeys
from codeplane.trust.identity import holds_no_token, owner_token
from codeplane.trust.people import is_person
from codeplane.trust.policy.engine import Engine
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.wiring.changing import Changing
from codeplane.wiring.dashboard import Dashboard
from codeplane.wiring.repository import repository, workspaces
from codeplane.wiring.shared import Shared
from codeplane.wiring.trusting import Trusting, trust_tables, trusting
from codeplane.work.operations import SessionOperations
from codeplane.work.projections import OperationTable, SessionTable, TaskTable
from codeplane.work.recovery import end_calls, recover
from codeplane.work.replay import ReplayOperations
from codeplane.work.sessions import Sessions

__all__ = ["Plane", "configuration", "prepare", "running"]

_SWEEP_NS = 15 * SECOND_NS
_RETRY_SEC = 1.0
_LAST_RUN_SEC = 0.25


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
    gauges: Gauges
    tracing: Tracing
    index: IndexService
    changing: Changing
    workspaces: Workspaces
    trust: Trusting
    dashboard: Dashboard
    secrets: SecretFiles
    token: str


@asynccontextmanager
async def running(
    workspace: Workspace,
    *,
    loaded: LoadedConfig,
    operations: Sequence[object] = (),
    health: Health | None = None,
    clock: Clock | None = None,
    engine: Engine | None = None,
    workers: Workers | None = None,
) -> AsyncIterator[Plane]:
    """Run CodePlane on a workspace: lock it, open and recover the log, wire the planes, and undo it at the end.

    Who runs many, one after the other, may give all of them the same `engine` of policies and `workers` that parse.
    """
    clock, health = clock or SystemClock(), health or Health()
    refuse_foreign(workspace)
    async with AsyncExitStack() as stack:
        prepare(workspace)
        lock = FileLock(workspace.lock)
        lock.acquire()
        stack.callback(lock.release)
        logs = Logs(config=loaded.config.logging, clock=clock, file=workspace.log)
        stack.callback(logs.close)
        plane = _wire(workspace, loaded, operations, health, clock, logs, engine, workers or Workers())
        stack.push_async_callback(asyncio.to_thread, plane.log.close)
        plane.tracing.start()
        stack.push_async_callback(asyncio.to_thread, plane.tracing.stop)
        stack.push_async_callback(plane.index.stop)
        stack.push_async_callback(plane.workspaces.stop)
        stack.push_async_callback(plane.changing.suite.stop)
        stack.callback(plane.trust.policy.close)
        stack.push_async_callback(plane.trust.resuming.stop)
        await plane.trust.restore(plane.log)
        endings = plane.changing.endings(plane.log, plane.conveyor.catalogue)
        found = await recover(plane.log, endings.of)
        found |= await record(plane.log, plane.changing.recovered, plane.changing.kept, plane.changing.moves)
        stack.push_async_callback(_last_sweep, plane)
        stack.callback(plane.sessions.close_all, "shutdown")
        said = logs.logger("codeplane")
        if plane.log.rebuilt:
            said.warning("tables rebuilt from the log", tables=plane.log.rebuilt)
        if any(found.values()):
            said.warning("the last run was interrupted", **found)
        background = asyncio.ensure_future(_background(plane, health))
        stack.push_async_callback(_cancel, background)
        stack.push_async_callback(_cancel, asyncio.ensure_future(_follow_last_run(plane)))
        stack.push_async_callback(_cancel, asyncio.ensure_future(plane.trust.policy.watch()))
        yield plane


def _wire(
    workspace: Workspace,
    loaded: LoadedConfig,
    operations: Sequence[object],
    health: Health,
    clock: Clock,
    logs: Logs,
    engine: Engine | None,
    workers: Workers,
) -> Plane:
    config = loaded.config
    garbled = holds_no_token(workspace.owner_token)
    try:
        token = owner_token(workspace.owner_token)
    except OSError as error:
        raise refusal(error, workspace.owner_token) from error
    if garbled:
        said = logs.logger("codeplane")
        said.warning("the owner's token was made anew, its file held none", file=str(workspace.owner_token))
    secrets = SecretFiles(
        serving=workspace.root,
        rules=SecretRules(config.index.secrets),
        empty=workspace.home / EMPTY,
        on_surplus=lambda file: logs.logger("secrets").warning(
            "not every value of a secrets file is left out of answers: there are too many", file=file
        ),
    )
    # What people decide by and look back on holds the words that an agent could have put into a secrets file.
    redactor = Redactor(known=[token])
    outward = Redactor(known=[token], matcher=secrets.matcher)
    logs.redact(redactor)
    metrics = Metrics(clock=clock, logger=logs.logger("calls"), version=__version__)

    def committed(events: int, spent_ns: int) -> None:
        # A failed commit is told of too, with no events.
        if events:
            health.committed()
        metrics.committed(events=events, spent_ns=spent_ns)

    log = SqliteLog(
        path=workspace.ledger,
        projections=(SessionTable(), TaskTable(), OperationTable(), DecisionTable(), *trust_tables()),
        config=config.ledger,
        clock=clock,
        on_commit=committed,
        on_lost=health.failed,
        redactor=redactor,
    )
    repo = GitRepo(workspace.root)
    cursors = Cursors(clock=clock)
    sessions = Sessions(log=log, repo=repo, clock=clock, config=config.sessions, limits=config.limits, observer=metrics)
    retention = Retention(log=log, config=config.retention, clock=clock)
    session_operations = SessionOperations(sessions=sessions, log=log, clock=clock, cursors=cursors)
    streams = Streams(position=lambda: log.position)
    tracing = Tracing.of(
        config.observe,
        redactor=redactor,
        outward=outward,
        cursors=cursors,
        logger=logs.logger("traces"),
        version=__version__,
    )
    online_runs = OnlineRuns()
    untrusted = UntrustedMarks(clock=clock, online_runs=online_runs, require_token=config.server.require_token)
    index_metrics = IndexMetrics(
        state=lambda: served.index.told(),
        head=repo.head,
        clock=clock,
        indexers=lambda: newest_by_language(served.changing.scip.tools() if served.changing else ()),
    )
    shared = Shared(
        config=config,
        log=log,
        clock=clock,
        logs=logs,
        cursors=cursors,
        secrets=secrets,
        reconciled=index_metrics.reconciled,
        # Whoever calls: a hook that a marked agent wrote is run by the commits of others, too.
        offline=lambda: untrusted.is_any,
        online_runs=online_runs,
        workers=workers,
    )
    served = repository(shared, root=workspace.root, home=workspace.home, exports=workspace.exports, repo=repo)
    changing = served.changing
    assert changing is not None
    further, workspace_operations = workspaces(shared, workspace)
    parts: dict[str, Callable[[Call], JsonObject | Awaitable[JsonObject]]] = {
        "daemon": daemon_part(
            port=lambda: health.port, started_ns=clock.monotonic_ns(), last_error=lambda: logs.last_error
        ),
        "ledger": lambda call: {**_ledger_part(log), **_last_run_part(changing.pending)},
        "session": session_operations.state,
        "index": served.index.state,
        "contexts": served.contexts.state,
        "config": lambda call: _config_part(workspace, loaded, repo, call.actor),
    }
    trust = trusting(
        workspace,
        config=config,
        log=log,
        clock=clock,
        logs=logs,
        cursors=cursors,
        owner_token=token,
        redactor=redactor,
        secrets=secrets,
        untrusted=untrusted,
        online_programs=changing.git.online_programs,
        engine=engine,
    )
    dashboard = Dashboard.of(
        log=log,
        streams=streams,
        clock=clock,
        cursors=cursors,
        owner_token=token,
        file=workspace.home / "dashboard.json",
        url=lambda: f"http://127.0.0.1:{health.port}",
        config=config,
        origins=loaded.origins,
        sources=loaded.sources,
        clients=lambda: _clients(workspace),
    )
    gauges = Gauges(
        clock=clock,
        memory_mb=lambda: resident_bytes() / 1024**2,
        queue=lambda: log.waiting,
        lag=streams.lag,
        running=lambda: conveyor.running,
    )
    listing = CatalogueOperations()
    replays = ReplayOperations(log=log, repo=repo)
    catalogue = Catalogue(
        [
            listing,
            StatusOperations(parts={**parts, "policy": trust.policy.state}),
            session_operations,
            replays,
            *served.operations,
            workspace_operations,
            *trust.operations,
            *dashboard.operations,
            FollowOperations(log, streams),
            tracing.operations,
            gauges,
            LedgerOperations(
                log=log,
                retention=retention,
                cursors=cursors,
                exports=workspace.exports,
                segment_bytes=config.ledger.export_segment_bytes,
                streams=streams,
            ),
            *operations,
        ]
    )
    listing.describe(catalogue)
    trust.describe(catalogue)
    catalogue.reach(further.elsewhere)
    _check_names(config, catalogue)
    conveyor = Conveyor(
        catalogue=catalogue,
        ports=StagePorts(
            identity=trust.identity.identities,
            authority=trust.authority,
            approver=trust.approvals,
            tasks=sessions,
            idempotency=IdempotencyKeys(log),
            log=log,
            blobs=log,
            repo=StateHash(root=workspace.root, head=repo.head, snapshot=served.index.newest),
            observer=metrics,
            clock=clock,
            redactor=outward,
            tracer=tracing.tracer,
        ),
    )
    replays.through(conveyor.call, catalogue.risk_of)
    trust.resuming.through(conveyor.call)
    metrics.watch(
        operations=[found.name for found in catalogue],
        running=lambda: conveyor.running,
        waiting=lambda: log.waiting,
        position=lambda: log.position,
        sessions=lambda: len(sessions),
        log_dropped=lambda: logs.dropped,
    )
    metrics.read("codeplane_task_budget_used_ratio", "Of the task nearest to a limit.", sessions.budget_used)
    counted = LedgerMetrics(log=log, after=log.position, pending=trust.approvals.pending)
    metrics.include(index_metrics, streams, counted, *tracing.collectors)
    return Plane(
        workspace=workspace,
        loaded=loaded,
        clock=clock,
        logs=logs,
        log=log,
        sessions=sessions,
        retention=retention,
        conveyor=conveyor,
        metrics=metrics,
        counted=counted,
        gauges=gauges,
        tracing=tracing,
        index=served.index,
        changing=changing,
        workspaces=further,
        trust=trust,
        dashboard=dashboard,
        secrets=secrets,
        token=token,
    )


def _check_names(config: Config, catalogue: Catalogue) -> None:
    """Refuse settings that name what is not there: a gate that was meant to open would stay shut in silence."""
    known = {found.name for found in catalogue} | catalogue.disabled.keys()
    for name in config.trust.allow:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigInvalid(
                f"trust.allow names {name!r}, which is no operation{advice}", hint="cpl call lists them"
            )
    toolsets = {"all", "core", *catalogue.families()}
    for name in filter(None, map(str.strip, config.mcp.toolset.lower().split(","))):
        if name not in toolsets:
            raise ConfigInvalid(f"mcp.toolset names {name!r}", hint=f"use {', '.join(sorted(toolsets))}")


def _clients(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Which coding clients on this machine know the server."""
    # The command line's own, and slow to import: only who looks at the settings needs it.
    from codeplane.adapters.coding_clients.own_entry import plan_for

    said = {"unchanged": "registered"}
    found = [(one, str(one.file).replace(f"{one.file.home()}/", "~/", 1)) for one in plan_for(workspace, [])]
    return [(one.client, said.get(one.action, "not registered"), file) for one, file in found]


def _last_run_part(pending: Pending) -> JsonObject:
    """What git of the last run still works on, of which nothing is recorded yet."""
    left = [f"{started.what} ({mutation_id})" for mutation_id, started in pending.left.items()]
    return {"git_still_runs": list(left)} if left else {}


def _ledger_part(log: SqliteLog) -> JsonObject:
    counters = log.counters
    said: JsonObject = {"position": log.position, "waiting": log.waiting}
    said |= {"commits": counters.commits, "lost": counters.lost}
    return {**said, "problem": problem} if (problem := log.file.problem()) else said


def _config_part(workspace: Workspace, loaded: LoadedConfig, repo: GitRepo, actor: Actor) -> JsonObject:
    changed = loaded.changed.told() if loaded.changed is not None else {}
    if "settings_problem" in changed and not is_person(actor):
        # It quotes the file, which agents do not read.
        changed = {**changed, "settings_problem": "the owner sees what is wrong with: cpl doctor"}
    return {
        "repo_root": str(workspace.root),
        "head": repo.head(),
        "config_sources": list(loaded.given),
        "trust_mode": loaded.config.trust.mode,
        **changed,
    }


async def _background(plane: Plane, health: Health) -> None:
    """What has to happen now and then: idle sessions close, the log forgets, and a full disk is tried again."""
    said = plane.logs.logger("codeplane")
    retain_ns = int(plane.loaded.config.retention.every_sec * SECOND_NS)
    sweep_at = plane.clock.monotonic_ns()
    retain_at = sweep_at + retain_ns
    await asyncio.to_thread(plane.secrets.walk)
    await cleared(plane.changing.recovery_secrets, said.warning)
    while True:
        await asyncio.sleep(_RETRY_SEC)
        now = plane.clock.monotonic_ns()
        try:
            if health.lost:
                await _record_loss(plane, health)
            plane.gauges.take()
            await plane.trust.sweep()
            await plane.conveyor.sweep()
            await plane.counted.advance(plane.log.position)
            if now >= sweep_at:
                sweep_at = now + _SWEEP_NS
                plane.sessions.sweep()
                await asyncio.to_thread(plane.secrets.walk)
            if now >= retain_at:
                retain_at = now + retain_ns
                said.info("retention ran", **await plane.retention.apply())
        except CodePlaneError as error:
            said.error("housekeeping failed", error=error.name, reason=error.message)
        except Exception as error:
            said.error("housekeeping failed", exc_info=error)


async def _follow_last_run(plane: Plane) -> None:
    """Record what became of mutations that git of the last run went on with, each when git has ended."""
    changing, said = plane.changing, plane.logs.logger("git")
    for mutation_id, started in changing.pending.left.items():
        said.warning("git of the last run still runs", mutation_id=mutation_id, what=started.what)
    while changing.unfinished is not None and changing.pending.left:
        await asyncio.sleep(_LAST_RUN_SEC)
        try:
            async with changing.locks.everything():
                recovered = await changing.unfinished.ended()
                if not recovered:
                    continue
                endings = changing.endings(plane.log, plane.conveyor.catalogue, recovered)
                calls = {one.call_id for one in recovered if one.call_id is not None}
                ended = await end_calls(plane.log, endings.of, only=calls)
                found = await record(plane.log, recovered, moves=changing.moves)
                changing.unfinished.recorded(recovered)
            said.warning("git of the last run has ended", **found, **ended)
        except Exception as error:
            said.error("what git of the last run did was not recorded", exc_info=error)


async def _last_sweep(plane: Plane) -> None:
    # What the log cannot take any more was only counted.
    with suppress(CodePlaneError):
        await plane.conveyor.sweep(is_closing=True)


async def _record_loss(plane: Plane, health: Health) -> None:
    """Say in the log what it could not take; whether it can be written again is known only by trying."""
    lost = health.lost
    payload: JsonObject = {"lost_records": lost}
    try:
        await plane.log.append([Draft(stream="system", type="storage.recovered", payload=payload)])
    except CodePlaneError:
        return
    health.recorded(lost)
    plane.logs.logger("codeplane").warning("the ledger can be written again", **payload)


async def _cancel(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
