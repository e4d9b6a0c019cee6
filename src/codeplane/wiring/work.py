"""Sessions and tasks; work items and conversations, and the engine that runs them."""

from functools import partial
from pathlib import Path

from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.ledger.payloads import PayloadStore
from codeplane.wiring.agents import Agents
from codeplane.wiring.conversations import Conversations
from codeplane.wiring.explore import Explorations
from codeplane.wiring.job_trees import JobWorkspaces
from codeplane.wiring.models import ModelsWiring
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep
from codeplane.wiring.repository import RepositoryWiring
from codeplane.wiring.schedules import Schedules
from codeplane.wiring.trust import TrustWiring
from codeplane.wiring.work_scope import work_scope
from codeplane.work.agents.table import ThreadTreeTable
from codeplane.work.artifacts.operations import ArtifactOperations
from codeplane.work.artifacts.store import ArtifactStore
from codeplane.work.artifacts.table import ArtifactTable
from codeplane.work.deferred.calls import DeferredCallRuns
from codeplane.work.deferred.record import DeferredStore
from codeplane.work.deferred.table import DeferredTable
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import WorkItem
from codeplane.work.items.operations import WorkOperations
from codeplane.work.items.step_list import StepList
from codeplane.work.items.table import LEASED, WorkTable
from codeplane.work.jobs.table import JobTable
from codeplane.work.jobs.tree_lifecycle import TreeLifecycle
from codeplane.work.operations import SessionOperations
from codeplane.work.proposals.operations import ProposalOperations
from codeplane.work.proposals.table import ProposalTable
from codeplane.work.replay import ReplayOperations
from codeplane.work.schedules.table import ScheduleTable
from codeplane.work.sessions import Sessions
from codeplane.work.skills.table import SkillTrustTable
from codeplane.work.tables import OperationTable, SessionTable, TaskTable
from codeplane.work.threads.table import ThreadTable

_SWEEP_SEC = 15.0
_PAYLOAD_SWEEP_SEC = 3600.0
_MAX_ORIGINS = 4096
_MAX_DEFERRED_DAYS = 7.0


class WorkWiring(PlaneWiring):
    """Counts calls against the limits of their tasks, and runs background work."""

    tables = (
        SessionTable,
        TaskTable,
        OperationTable,
        WorkTable,
        ThreadTable,
        JobTable,
        ArtifactTable,
        SkillTrustTable,
        ProposalTable,
        ScheduleTable,
        DeferredTable,
        ThreadTreeTable,
    )

    deferred: DeferredCallRuns

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation, config = self.foundation, self.foundation.config
        self.sessions = Sessions(
            log=foundation.log,
            repo=foundation.repo,
            clock=foundation.clock,
            config=config.sessions,
            limits=config.limits,
            observer=foundation.metrics,
        )
        trust, logger = house.plane(TrustWiring), foundation.logs.logger("work")
        self._trust = trust
        self._payloads = PayloadStore(log=foundation.log, seal=foundation.seal, max_bytes=config.work.payload_bytes)
        self._artifacts = ArtifactStore(
            foundation.log,
            PayloadStore(log=foundation.log, seal=foundation.seal, max_bytes=config.artifacts.thread_bytes),
        )
        # By item and attempt: each attempt may be another node's.
        self._origins = BoundedCache[tuple[str, int], bool](_MAX_ORIGINS)
        self._conversations = Conversations.of(foundation, self._payloads, house.plane(ModelsWiring).choice)
        self._explorations = Explorations.of(foundation, self._payloads, house.plane(ModelsWiring).choice)
        repository = house.plane(RepositoryWiring)
        self.trees = JobWorkspaces(
            foundation=foundation, edits=repository.edits, operations=repository.served.operations
        )
        self.agents = Agents.of(foundation, self._conversations, self.trees.trees)
        self.engine = WorkEngine(
            kinds=(
                StepList(
                    payloads=self._payloads, clock=foundation.clock, max_running=foundation.config.work.max_running
                ),
                *self._conversations.kinds,
                self._explorations.kind,
                self.agents.kind,
            ),
            log=foundation.log,
            clock=foundation.clock,
            config=config.work,
            node=foundation.log.node,
            instance=new_id("engine"),
            is_live=trust.identity.identities.is_live,
            withdraw=lambda actor_id, reason: trust.approvals.end_for(actor_id, reason=reason),
            disconnect=self.sessions.disconnect,
            on_crash=lambda error: logger.error("work could not go on", exc_info=error),
            is_own=self._is_own if foundation.log.is_shared else None,
            may_take_over=self._may_take_over if config.work.take_over else None,
        )
        self.jobs = self._conversations.job_queue(self.engine)
        self._tree_lifecycle = TreeLifecycle(
            log=foundation.log,
            jobs=self._conversations.jobs,
            trees=self.trees.trees,
            clock=foundation.clock,
            keep_days=config.jobs.keep_trees_days,
        )
        self._conversations.job_kind.prepare = self._tree_lifecycle.prepare
        self._job_callbacks = self._conversations.job_callbacks(self.engine)
        self._callbacks = self._conversations.callbacks(self.engine, self._job_callbacks)
        self.schedules = Schedules.of(
            foundation, self._conversations.schedule_runs(self.engine), trust.identity.identities.end_reason
        )

    def part(self, conveyor: Conveyor) -> Part:
        foundation = self.foundation
        self.deferred = self._deferred_calls(conveyor)
        operations = SessionOperations(
            sessions=self.sessions, log=foundation.log, clock=foundation.clock, cursors=foundation.cursors
        )
        replay = ReplayOperations(
            log=foundation.log, repo=foundation.repo, ask=conveyor.call, risk_of=foundation.catalogue.risk_of
        )
        work = WorkOperations(
            engine=self.engine,
            log=foundation.log,
            payloads=self._payloads,
            catalogue=foundation.catalogue,
            cursors=foundation.cursors,
            config=foundation.config.work,
            redactor=foundation.redactor,
            scope_of=work_scope(conveyor.ports.authority.event_scope),
            readable=conveyor.ports.authority.readable,
            pass_marks=foundation.untrusted.pass_to_work,
        )
        artifacts = ArtifactOperations(
            store=self._artifacts,
            threads=self._conversations.access(conveyor),
            log=foundation.log,
            cursors=foundation.cursors,
            config=foundation.config.artifacts,
            has_read_untrusted=lambda call: foundation.untrusted.mark_of_call(call) is not None,
            ingest=foundation.untrusted.mark,
        )
        proposals = ProposalOperations(
            log=foundation.log,
            catalogue=foundation.catalogue,
            cursors=foundation.cursors,
            redactor=foundation.redactor,
            skills=self._conversations.skills.source,
            read_own_file=partial(_read_own_file, foundation.workspace.home),
            scope_of=work_scope(conveyor.ports.authority.event_scope),
            has_read_untrusted=lambda call: foundation.untrusted.mark_of_call(call) is not None,
            door=conveyor,
        )
        choose_agent = self.agents.registry.choose
        conversations = self._conversations.operations(
            conveyor, self.engine, (self._conversations.kind, self.agents.kind), choose_agent
        )
        return Part(
            operations=(
                operations,
                replay,
                work,
                artifacts,
                proposals,
                *conversations,
                *self._conversations.job_operations(
                    conveyor, self.engine, self.trees.trees, self._tree_lifecycle, choose_agent
                ),
                *self.agents.operations(conveyor),
                self.schedules.operations(self._conversations.access(conveyor)),
                *self._explorations.operations(conveyor, self.engine, self.trees),
            ),
            status={"session": operations.state, "work": self._state, "schedules": self.schedules.state},
            sweeps=(
                Sweep(run=self._sweep, every_sec=_SWEEP_SEC),
                Sweep(run=self._sweep_work),
                Sweep(run=self._sweep_leftovers, every_sec=_PAYLOAD_SWEEP_SEC),
                Sweep(run=self.delete_orphaned_payloads, every_sec=_PAYLOAD_SWEEP_SEC, at_start=False),
            ),
            stop=self._stop,
        )

    def _deferred_calls(self, conveyor: Conveyor) -> DeferredCallRuns:
        foundation, retention = self.foundation, self.foundation.config.retention
        # As long as both their records and the outcomes that keys have are kept.
        days = min(_MAX_DEFERRED_DAYS, retention.tasks_days, retention.idempotency_days)
        return DeferredCallRuns(
            store=DeferredStore(
                log=foundation.log, payloads=self._payloads, clock=foundation.clock, ttl_sec=days * 86_400
            ),
            door=conveyor,
            identity=conveyor.ports.identity,
            catalogue=foundation.catalogue,
            withdraw=partial(self._trust.approvals.withdraw_question, reason="the call was cancelled"),
        )

    def start_engine(self, conveyor: Conveyor) -> None:
        """Run work items from now on; only a server does, since an embedded run would cut them off."""
        self.engine.start(conveyor)

    def start_schedules(self) -> None:
        """Wake schedules from now on; only a server does, since an embedded run would not be there for long."""
        self.schedules.scheduler.start()

    @property
    def keeps_server_up(self) -> bool:
        """Whether a server in the background has to stay up without calls."""
        return self.engine.running > 0 or self.deferred.running > 0 or self.schedules.keep_server_up

    async def _is_own(self, item: WorkItem) -> bool:
        """Whether this node of a shared log leased an item last, or else created it: its payloads and its repository
        are here."""
        known = self._origins.get((item.work_id, item.attempt))
        if known is None:
            log = self.foundation.log
            leases = EventQuery(stream=item.stream, types=(LEASED,), newest=True, limit=1)
            events = await log.query(leases) or await log.query(EventQuery(stream=item.stream, limit=1))
            known = bool(events) and log.is_own(events[0])
            self._origins.put((item.work_id, item.attempt), known)
        return known

    async def _may_take_over(self, item: WorkItem) -> bool:
        """Whether the calls that are left of another node's item are known here; other kinds of work go on in files of
        their own node."""
        if item.kind != StepList.name:
            return False
        return await self._payloads.get(item.work_id, item.payload_hash) is not None

    async def _state(self, call: Call) -> JsonObject:
        return await self.engine.state()

    async def _sweep(self) -> None:
        self.sessions.sweep()

    async def _sweep_work(self) -> None:
        if self.engine.has_started:
            await self.engine.sweep()
            await self._callbacks.sweep()
            await self._job_callbacks.sweep()
            await self._tree_lifecycle.sweep()
            await self.agents.trees.sweep()

    async def _sweep_leftovers(self) -> None:
        if self.engine.has_started:
            await self._tree_lifecycle.remove_leftovers()
            await self.agents.trees.remove_leftovers()

    async def delete_orphaned_payloads(self) -> None:
        """Delete payloads of items and artifacts that are gone."""
        await self._payloads.delete_orphans()

    async def _stop(self) -> None:
        await self.schedules.scheduler.stop()
        await self.deferred.stop()
        await self.engine.stop()
        await self.trees.stop()
        self.sessions.close_all("shutdown")


def _read_own_file(home: Path, name: str) -> str:
    """The text of a file below `.codeplane/`; empty when there is none."""
    try:
        return (home / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
