"""Threads and turns: what runs them, and their operations."""

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codeplane.adapters.skill_folders import SkillFolders
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.job_tree import JobTrees
from codeplane.kernel.ports import Payloads
from codeplane.kernel.redaction import Redactor
from codeplane.vectors.token_count import TOKENIZER, count_tokens
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.work_scope import work_scope
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.kind import WorkKind
from codeplane.work.jobs.callbacks import JobCallbacks
from codeplane.work.jobs.kind import JobKind
from codeplane.work.jobs.operations import JobAccess, JobOperations
from codeplane.work.jobs.queue import JobQueue
from codeplane.work.jobs.spawn_limits import SpawnLimits
from codeplane.work.jobs.store import JobStore
from codeplane.work.jobs.tree_lifecycle import TreeLifecycle
from codeplane.work.jobs.tree_operations import JobTreeOperations
from codeplane.work.schedules.runs import ScheduleRuns
from codeplane.work.skills.library import SkillLibrary
from codeplane.work.skills.operations import SkillOperations
from codeplane.work.threads.fork import ThreadFork
from codeplane.work.threads.operations import ThreadAccess, ThreadOperations
from codeplane.work.threads.store import ThreadStore
from codeplane.work.turns.callbacks import TurnCallbacks
from codeplane.work.turns.context import ContextBuilder
from codeplane.work.turns.kind import TurnKind
from codeplane.work.turns.loop import TurnLoop
from codeplane.work.turns.operations import TurnOperations
from codeplane.work.turns.queue import TurnQueue
from codeplane.work.turns.reach_out import ReachOuts
from codeplane.work.turns.transcript import TranscriptStore
from codeplane.work.turns.turn_run import Models

_INSTRUCTIONS = "AGENTS.md"
_MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """The parts of conversations that need no conveyor."""

    foundation: Foundation
    payloads: Payloads
    transcripts: TranscriptStore
    reach_outs: ReachOuts
    store: ThreadStore
    jobs: JobStore
    skills: SkillLibrary
    kind: TurnKind
    job_kind: JobKind

    @classmethod
    def of(cls, foundation: Foundation, payloads: Payloads, models: Models) -> "Conversations":
        """Build what runs turns."""
        store, config = ThreadStore(foundation.log), foundation.config.turns
        root = foundation.workspace.root
        transcripts = TranscriptStore(payloads)
        context = ContextBuilder(
            store=store,
            transcripts=transcripts,
            instructions=lambda: asyncio.to_thread(_instructions, root, foundation.outward),
            count_tokens=count_tokens,
            context_tokens=config.context_tokens,
        )
        loop = TurnLoop(
            log=foundation.log,
            payloads=payloads,
            transcripts=transcripts,
            store=store,
            context=context,
            catalogue=foundation.catalogue,
            models=models,
            redactor=foundation.redactor,
            count_tokens=count_tokens,
            config=config,
            clock=foundation.clock,
        )
        jobs = JobStore(foundation.log)
        reach_outs = ReachOuts(
            log=foundation.log,
            store=store,
            clock=foundation.clock,
            per_day=foundation.config.schedules.reach_outs_per_day,
        )
        kind = TurnKind(
            store=store, loop=loop, reach_outs=reach_outs, tokenizer=TOKENIZER, max_running=config.max_running
        )
        job_kind = JobKind(
            threads=store,
            jobs=jobs,
            loop=loop,
            tokenizer=TOKENIZER,
            max_running=foundation.config.jobs.max_running,
        )
        skills = SkillLibrary(SkillFolders.of(root, Path.home()), foundation.log)
        return cls(
            foundation=foundation,
            payloads=payloads,
            transcripts=transcripts,
            reach_outs=reach_outs,
            store=store,
            jobs=jobs,
            skills=skills,
            kind=kind,
            job_kind=job_kind,
        )

    @property
    def kinds(self) -> tuple[WorkKind, ...]:
        """The kinds of work that turns and jobs are."""
        return self.kind, self.job_kind

    def job_queue(self, engine: WorkEngine) -> JobQueue:
        """The queue of jobs, for all that start them."""
        config = self.foundation.config
        return JobQueue(
            engine=engine,
            payloads=self.payloads,
            threads=self.store,
            jobs=self.jobs,
            config=config.jobs,
            turns=config.turns,
        )

    def schedule_runs(self, engine: WorkEngine) -> ScheduleRuns:
        """The runs that schedules start."""
        return ScheduleRuns(
            jobs=self.job_queue(engine),
            turns=TurnQueue(engine=engine, payloads=self.payloads),
            threads=self.store,
            config=self.foundation.config.turns,
        )

    def operations(
        self, conveyor: Conveyor, engine: WorkEngine, kinds: Sequence[TurnKind], choose_agent: Callable[[str], str]
    ) -> tuple[object, ...]:
        """The operations on threads, turns and skills; `kinds` are all that turns can be."""
        foundation, access = self.foundation, self.access(conveyor)
        threads = ThreadOperations(
            store=self.store,
            access=access,
            log=foundation.log,
            catalogue=foundation.catalogue,
            cursors=foundation.cursors,
            # What is remembered is shown to models, perhaps on other machines.
            redactor=foundation.outward,
            streams=foundation.streams,
            mode=foundation.config.trust.mode,
            choose_agent=choose_agent,
        )
        fork = ThreadFork(
            store=self.store,
            access=access,
            log=foundation.log,
            redactor=foundation.outward,
            pass_marks=partial(foundation.untrusted.pass_to_thread, foundation.log),
        )
        turns = TurnOperations(
            store=self.store,
            access=access,
            engine=engine,
            queue=TurnQueue(engine=engine, payloads=self.payloads),
            kinds=kinds,
            log=foundation.log,
            # What is asked leaves for models, perhaps on other machines.
            redactor=foundation.outward,
            config=foundation.config.turns,
            door=conveyor,
            skills=self.skills,
        )
        return threads, fork, turns, SkillOperations(self.skills)

    def job_operations(
        self,
        conveyor: Conveyor,
        engine: WorkEngine,
        trees: JobTrees,
        lifecycle: TreeLifecycle,
        choose_agent: Callable[[str], str],
    ) -> tuple[object, ...]:
        """The operations on jobs and on what they changed."""
        foundation, scope_of = self.foundation, work_scope(conveyor.ports.authority.event_scope)
        access = JobAccess(
            log=foundation.log, store=self.jobs, scope_of=scope_of, readable=conveyor.ports.authority.readable
        )
        jobs = JobOperations(
            queue=self.job_queue(engine),
            store=self.jobs,
            access=access,
            threads=self.store,
            thread_access=self.access(conveyor),
            limits=SpawnLimits(foundation.log, foundation.config.jobs),
            engine=engine,
            catalogue=foundation.catalogue,
            cursors=foundation.cursors,
            redactor=foundation.outward,
            default_wall_time_sec=foundation.config.jobs.max_wall_time_sec,
            pass_marks=foundation.untrusted.pass_to_work,
            skills=self.skills,
            choose_agent=choose_agent,
        )
        changes = JobTreeOperations(access=access, jobs=self.jobs, trees=trees, lifecycle=lifecycle)
        return jobs, changes

    def access(self, conveyor: Conveyor) -> ThreadAccess:
        """Which threads a caller may see."""
        authority = conveyor.ports.authority
        return ThreadAccess(self.store, work_scope(authority.event_scope), authority.readable)

    def job_callbacks(self, engine: WorkEngine) -> JobCallbacks:
        """Reports the ends of jobs to the threads that started them."""
        return JobCallbacks(
            log=self.foundation.log,
            jobs=self.jobs,
            threads=self.store,
            turn_queue=TurnQueue(engine=engine, payloads=self.payloads),
            job_queue=self.job_queue(engine),
            pass_on_marks=lambda work_id, from_thread, to_thread: self.foundation.untrusted.pass_on(
                self.foundation.log, work_id, from_thread=from_thread, to_thread=to_thread
            ),
            config=self.foundation.config.turns,
        )

    def callbacks(self, engine: WorkEngine, jobs: JobCallbacks) -> TurnCallbacks:
        """Reports decided proposals to their threads."""
        return TurnCallbacks(
            log=self.foundation.log,
            store=self.store,
            work=engine.store,
            queue_callback=jobs.call_back_item,
        )


def _instructions(root: Path, redactor: Redactor) -> str:
    """The repository's instructions to agents, without secrets; empty without such a file."""
    try:
        descriptor = os.open(root / _INSTRUCTIONS, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
            text = file.read(_MAX_BYTES).decode("utf-8", "replace") if is_plain else ""
    except OSError:
        return ""
    # It leaves for models, perhaps on other machines.
    return redactor.text(text)
