"""Which agents have read what others wrote: from then on nothing they send away is only the owner's wish."""

import asyncio
from collections.abc import Iterable

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import task_stream
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import GitBusy
from codeplane.kernel.event import ContentTrust, Draft, Source
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.ports import EventLog, ProjectionStore
from codeplane.trust.identity.identities import device_of, has_own_token
from codeplane.trust.people import is_person
from codeplane.trust.untrusted.table import CLEARED, COLUMNS, MARKED, SESSION, STREAM, Mark

CONTENT_INGESTED = "content.ingested"
# All agents that come without a token of their own count as one: they can name themselves as they like.
WITHOUT_TOKEN = "agents-without-token"
# What one of those read may be known to any agent: a program that has a token can read without it.
_ANY_AGENT = "any-agent"
_MAX_SHOWN = 500
_WAIT_SEC = 10.0


class UntrustedMarks:
    """Sets marks durably before untrusted content is answered with, and knows them for those who decide."""

    def __init__(
        self,
        *,
        clock: Clock,
        online_runs: OnlineRuns | None = None,
        require_token: bool = False,
    ) -> None:
        """`online_runs` of git, which began without a mark, are waited for."""
        self._clock = clock
        self._online_runs = online_runs or OnlineRuns()
        self._require_token = require_token
        self._marks: dict[str, Mark] = {}
        self._is_restored = False
        # A mark that is set while the owner clears comes after that, in the log as here.
        self._changing = asyncio.Lock()

    async def restore(self, log: ProjectionStore) -> None:
        """Know the marks of earlier runs."""
        found = map(Mark.from_row, await log.select(f"SELECT {COLUMNS} FROM untrusted"))
        self._marks = {mark.subject: mark for mark in found}
        self._is_restored = True

    @property
    def is_any(self) -> bool:
        """Whether a mark stands, whoever's; so it is while those of earlier runs are not known yet."""
        return bool(self._marks) or not self._is_restored

    async def mark(self, call: Call, source: str, what: str) -> None:
        """Record that a call brings in untrusted content, durably, and wait for git's hooks and filters that have the
        network: one could send away what the agent writes next. GitBusy when one does not end. People are not marked.
        """
        if is_person(call.actor):
            return
        await self._record(call, source, what)
        if not await self._online_runs.ended(_WAIT_SEC):
            raise GitBusy(
                "hooks or filters of a git command under way have the network: no untrusted content is given meanwhile",
                hint="wait until that command has ended, then make this call again",
            )

    async def _record(self, call: Call, source: str, what: str) -> None:
        task = call.task
        reader, what = identity_of(call.actor), what[:_MAX_SHOWN]
        subjects = [reader, *([f"{SESSION}{task.session_id}"] if task is not None else [])]
        if not self._require_token:
            # Whoever has a token can come without it as well, before reading or after.
            subjects.append(_ANY_AGENT if reader == WITHOUT_TOKEN else WITHOUT_TOKEN)
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
            new = [subject for subject in subjects if subject not in self._marks]
            if not new:
                await call.log.append([ingested])
                return
            mark = Mark(
                subject=reader,
                reader=reader,
                actor=str(call.actor),
                operation=call.operation.name,
                source=source,
                what=what,
                since_ns=self._clock.now_ns(),
            )
            marked = Draft(
                stream=STREAM,
                type=MARKED,
                payload={
                    "subjects": [*new],
                    "reader": reader,
                    "actor": mark.actor,
                    "operation": mark.operation,
                    "source": source,
                    "what": what,
                },
                actor=str(call.actor),
                source=Source.TOOL_EXECUTOR,
                correlation=call.correlation,
            )
            await call.log.append([ingested, marked])
            self._marks |= dict.fromkeys(new, mark)

    async def clear(self, log: EventLog, by: Actor, reader: str | None = None) -> tuple[str, ...]:
        """Clear the marks of one identity with its sessions, or all; the subjects that had one."""
        async with self._changing:
            cleared = [
                subject
                for subject, mark in self._marks.items()
                if reader is None or subject == reader or (not _is_identity(subject) and mark.reader == reader)
            ]
            if cleared:
                draft = Draft(stream=STREAM, type=CLEARED, payload={"subjects": [*cleared]}, actor=str(by))
                await log.append([draft])
            for subject in cleared:
                del self._marks[subject]
            return tuple(cleared)

    def covering(self, call: Call) -> Mark | None:
        """The mark that covers a call: its caller's own, that of the session it is made in, or that of any agent."""
        if is_person(call.actor):
            return None
        session = [f"{SESSION}{call.task.session_id}"] if call.task is not None else []
        return self._first([identity_of(call.actor), *session, _ANY_AGENT])

    def of_actor(self, actor: Actor) -> Mark | None:
        """The mark that covers an actor, whatever session it calls in."""
        return None if is_person(actor) else self._first([identity_of(actor), _ANY_AGENT])

    def identities(self) -> dict[str, Mark]:
        """The marks of agents, by identity."""
        return {subject: mark for subject, mark in self._marks.items() if _is_identity(subject)}

    @property
    def covers_all(self) -> bool:
        """Whether what was read without a token is held to be known to every agent."""
        return _ANY_AGENT in self._marks

    def _first(self, subjects: Iterable[str]) -> Mark | None:
        return next((self._marks[subject] for subject in subjects if subject in self._marks), None)


def _is_identity(subject: str) -> bool:
    return subject != _ANY_AGENT and not subject.startswith(SESSION)


def identity_of(actor: Actor) -> str:
    """What an agent is known by for marks: its token's name, its device, or that it has no token."""
    if has_own_token(actor):
        return actor.actor_id
    device = device_of(actor)
    return device or (WITHOUT_TOKEN if actor.kind is ActorKind.AGENT else str(actor))
