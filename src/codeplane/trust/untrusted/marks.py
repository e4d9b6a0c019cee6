"""Marks on agents that have read untrusted content, which may steer what they send out from then on."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import task_stream
from codeplane.kernel.errors import GitBusy, Overloaded, SequenceConflict
from codeplane.kernel.event import ContentTrust, Draft, Event, Source
from codeplane.kernel.event_feed import EventFeed
from codeplane.kernel.event_log import EventLog, EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.ports import Ledger
from codeplane.trust.identity.identities import device_of, has_own_token
from codeplane.trust.people import is_person
from codeplane.trust.untrusted.table import (
    CLEARED,
    COLUMNS,
    MARKED,
    SESSION,
    SESSION_CLOSED,
    STREAM,
    THREAD,
    WORK,
    Mark,
)

CONTENT_INGESTED = "content.ingested"
# Agents without a token count as one, because they can choose their names.
WITHOUT_TOKEN = "agents-without-token"
# What one of those read may be known to any agent: a program that has a token can also call without it.
_ANY_AGENT = "any-agent"
_MAX_SHOWN = 500
_WAIT_SEC = 10.0
_MAX_CONFLICTS = 20


class UntrustedMarks:
    """Sets marks durably before untrusted content is returned, and keeps them for decisions."""

    def __init__(
        self,
        *,
        online_runs: OnlineRuns | None = None,
        require_token: bool = False,
    ) -> None:
        """`online_runs` are git commands with the network, which `mark` waits for."""
        self._online_runs = online_runs or OnlineRuns()
        self._require_token = require_token
        self._marks: dict[str, Mark] = {}
        # The last sequence of the marks' stream that is taken in; unknown until they are loaded.
        self._sequence: int | None = None
        self._feed = EventFeed({MARKED, CLEARED, SESSION_CLOSED}, self._apply)
        # A mark that is set while the owner clears comes after it, in the log and in memory.
        self._changing = asyncio.Lock()

    async def restore(self, log: Ledger) -> None:
        """Load the marks of earlier runs, and follow what becomes of them."""

        async def load() -> None:
            newest = await log.query(EventQuery(stream=STREAM, newest=True, limit=1))
            marks = map(Mark.from_row, await log.select(f"SELECT {COLUMNS} FROM untrusted"))
            self._marks = {mark.subject: mark for mark in marks}
            self._sequence = newest[0].sequence if newest else 0

        await self._feed.load(log, load)

    @property
    def has_marks(self) -> bool:
        """Whether any mark is set; also True until the marks of earlier runs are loaded."""
        return bool(self._marks) or self._sequence is None

    async def mark(self, call: Call, source: str, what: str) -> None:
        """Record durably that a call brings in untrusted content; people are not marked.

        Waits for git's hooks and filters that have the network, which could send out what the agent writes next;
        GitBusy when one does not end.
        """
        if is_person(call.actor):
            return
        await self._record(call, source, what)
        if not await self._online_runs.wait_for_end(_WAIT_SEC):
            raise GitBusy(
                "hooks or filters of a git command under way have the network: no untrusted content is given meanwhile",
                hint="wait until that command has ended, then make this call again",
            )

    async def _record(self, call: Call, source: str, what: str) -> None:
        task = call.task
        reader, what = identity_of(call.actor), what[:_MAX_SHOWN]
        subjects = [reader, *_contexts(call)]
        # Whom it acts for is given what it read.
        agents = [actor for actor in (call.actor, _delegator(call)) if actor and actor.kind is ActorKind.AGENT]
        for identity in map(identity_of, agents):
            subjects.append(identity)
            if not self._require_token:
                # An agent with a token can also call without it, before reading or after.
                subjects.append(_ANY_AGENT if identity == WITHOUT_TOKEN else WITHOUT_TOKEN)
        subjects = list(dict.fromkeys(subjects))
        ingested = Draft(
            stream=task_stream(task.task_id) if task is not None else "calls",
            type=CONTENT_INGESTED,
            payload={"operation": call.operation.name, "source": source, "what": what},
            actor=str(call.actor),
            source=Source.TOOL_EXECUTOR,
            content_trust=ContentTrust.UNTRUSTED_MODEL,
            correlation=call.correlation,
        )
        async with self._changing:
            for _ in range(_MAX_CONFLICTS):
                new = [subject for subject in subjects if subject not in self._marks]
                drafts = [ingested, *([self._mark_event(call, new, reader, source, what)] if new else [])]
                try:
                    await call.log.append(drafts, expect=self._expected_sequence())
                except SequenceConflict:
                    # Marks were cleared or set elsewhere meanwhile, and are taken in by now.
                    continue
                return
            raise Overloaded("marks on untrusted content change too often")

    async def pass_on(self, log: EventLog, work_id: str, *, from_thread: str, to_thread: str) -> None:
        """Mark a thread that is given what a marked work item, or the thread that it ran in, has read."""
        await self._pass_on(log, [f"{WORK}{work_id}", f"{THREAD}{from_thread}"], f"{THREAD}{to_thread}")

    async def pass_to_thread(self, log: EventLog, from_thread: str, to_thread: str) -> None:
        """Mark a thread that is made of a marked one."""
        await self._pass_on(log, [f"{THREAD}{from_thread}"], f"{THREAD}{to_thread}")

    async def pass_to_work(self, call: Call, work_id: str) -> None:
        """Mark a work item that a call starts, where a mark covers the call: its goal may be what a page wants."""
        if (mark := self.mark_of_call(call)) is not None:
            await self._pass_on(call.log, [mark.subject], f"{WORK}{work_id}")

    async def _pass_on(self, log: EventLog, sources: Iterable[str], subject: str) -> None:
        """Mark a subject as the first of the sources that has a mark."""
        sources = tuple(sources)
        for _ in range(_MAX_CONFLICTS):
            async with self._changing:
                mark = self._first(sources)
                if mark is None or subject in self._marks:
                    return
                facts: JsonObject = {
                    "subjects": [subject],
                    "reader": mark.reader,
                    "actor": mark.actor,
                    "operation": mark.operation,
                    "source": mark.source,
                    "what": mark.what,
                }
                with suppress(SequenceConflict):
                    await log.append(
                        [Draft(stream=STREAM, type=MARKED, payload=facts)], expect=self._expected_sequence()
                    )
                    return
        raise Overloaded("marks on untrusted content change too often")

    def _expected_sequence(self) -> dict[str, int] | None:
        """Where the marks' stream has to be for what is known of it to hold."""
        return None if self._sequence is None else {STREAM: self._sequence}

    @staticmethod
    def _mark_event(call: Call, subjects: list[str], reader: str, source: str, what: str) -> Draft:
        return Draft(
            stream=STREAM,
            type=MARKED,
            payload={
                "subjects": [*subjects],
                "reader": reader,
                "actor": str(call.actor),
                "operation": call.operation.name,
                "source": source,
                "what": what,
            },
            actor=str(call.actor),
            source=Source.TOOL_EXECUTOR,
            correlation=call.correlation,
        )

    def _apply(self, event: Event) -> None:
        if event.type == SESSION_CLOSED:
            # A closed session is never entered again.
            self._marks.pop(f"{SESSION}{event.correlation.session_id}", None)
            return
        self._sequence = event.sequence
        subjects = event.payload["subjects"]
        assert isinstance(subjects, list)
        for subject in map(str, subjects):
            if event.type == CLEARED:
                self._marks.pop(subject, None)
            else:
                self._marks.setdefault(subject, Mark.from_event(subject, event))

    async def clear(self, log: EventLog, by: Actor, reader: str | None = None) -> tuple[str, ...]:
        """Clear the marks of one identity with its sessions, or all; returns the cleared subjects."""
        async with self._changing:
            cleared = [
                subject
                for subject, mark in self._marks.items()
                if reader is None or subject == reader or (not _is_identity(subject) and mark.reader == reader)
            ]
            if cleared:
                draft = Draft(stream=STREAM, type=CLEARED, payload={"subjects": [*cleared]}, actor=str(by))
                await log.append([draft])
            return tuple(cleared)

    def mark_of_call(self, call: Call) -> Mark | None:
        """The mark that covers a call: its caller's own, that of the session, work or thread it is made in, that of
        whom it acts for, or that of any agent."""
        if not self._marks or is_person(call.actor):
            return None
        delegator = _delegator(call)
        theirs = [identity_of(delegator)] if delegator is not None else []
        return self._first([identity_of(call.actor), *_contexts(call), *theirs, _ANY_AGENT])

    def mark_of_actor(self, actor: Actor) -> Mark | None:
        """The mark that covers an actor, whatever session it calls in."""
        return None if is_person(actor) else self._first([identity_of(actor), _ANY_AGENT])

    def identities(self) -> dict[str, Mark]:
        """The marks of agents, by identity."""
        return {subject: mark for subject, mark in self._marks.items() if _is_identity(subject)}

    @property
    def covers_every_agent(self) -> bool:
        """Whether content read without a token counts as known to every agent."""
        return _ANY_AGENT in self._marks

    def _first(self, subjects: Iterable[str]) -> Mark | None:
        return next((self._marks[subject] for subject in subjects if subject in self._marks), None)


def _contexts(call: Call) -> list[str]:
    """The session, work item and thread that a call is made in, as subjects of marks."""
    origin, subjects = call.caller.origin, [f"{SESSION}{call.task.session_id}"] if call.task is not None else []
    if origin is not None and origin.work_id is not None:
        subjects.append(f"{WORK}{origin.work_id}")
    if origin is not None and origin.thread_id is not None:
        subjects.append(f"{THREAD}{origin.thread_id}")
    return subjects


def _delegator(call: Call) -> Actor | None:
    """The agent that a call is made for; people are not marked."""
    origin = call.caller.origin
    delegator = origin.on_behalf_of if origin is not None else None
    return None if delegator is None or is_person(delegator) else delegator


def _is_identity(subject: str) -> bool:
    return subject != _ANY_AGENT and not subject.startswith((SESSION, WORK, THREAD))


def identity_of(actor: Actor) -> str:
    """The identity that marks are set on: a token's name, a device, or all agents without a token."""
    if has_own_token(actor):
        return actor.actor_id
    device = device_of(actor)
    return device or (WITHOUT_TOKEN if actor.kind is ActorKind.AGENT else str(actor))
