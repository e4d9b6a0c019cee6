"""Operations behind the conveyor with a real log, real sessions and a person who says yes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import Config
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery, EventScope
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Assessment, Result
from codeplane.kernel.ports import Decision, Question, Verdict
from codeplane.kernel.stages.ports import StagePorts
from codeplane.ledger.log import SqliteLog
from codeplane.trust.idempotency import IdempotencyKeys, IdempotencyTable
from codeplane.trust.untrusted.table import UntrustedTable
from codeplane.work.sessions import Sessions

AGENT = Caller(surface="mcp", client="agent", connection_id="c1")


class Names:
    """Knows callers by what they call themselves: `owner` is the owner."""

    def identify(self, caller: Caller, operation: str = "") -> Actor:
        kind = ActorKind.OWNER if caller.client == "owner" else ActorKind.AGENT
        return Actor(kind=kind, actor_id=caller.client or "anonymous")

    async def wait_for_end(self, caller: Caller) -> CodePlaneError:
        await asyncio.Event().wait()
        raise AssertionError("nobody is sent away here")


class AskFirst:
    """Asks about whatever is not a read, and remembers what it was told of it."""

    def __init__(self) -> None:
        self.assessed: list[Assessment] = []

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        self.assessed.append(assessment)
        return Decision(verdict=Verdict.ASK if call.operation.mutates else Verdict.ALLOW)

    def may_write(self, call: Call, path: str) -> None:
        return None

    def event_scope(self, call: Call) -> EventScope | None:
        return None

    async def readable(self, call: Call, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids)

    async def replays(self, call: Call, result: Result) -> None:
        return None


class Agreeable:
    """A person who says yes, and remembers to what."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def recall(self, call: Call, arguments_hash: str) -> bool:
        return False

    async def find_equal_action(self, question: Question) -> tuple[str, str] | None:
        return None

    async def approve(self, question: Question) -> str:
        self.asked.append(question)
        return f"act_{len(self.asked)}"

    async def confirm(self, action_id: str, question: Question) -> None:
        return None


class Nobody:
    """No commits, nobody told."""

    def head(self) -> str | None:
        return None

    async def state(self) -> tuple[str, str | None]:
        return "", None

    def task_opened(self) -> None:
        return None

    def task_closed(self, state: str) -> None:
        return None

    def call_finished(self, *, operation: str, status: str, duration_ns: int, call: JsonObject) -> None:
        return None

    def call_crashed(self, *, operation: str, call_id: str, error: BaseException) -> None:
        return None


@dataclass(kw_only=True)
class Door:
    """The way in, and what was seen on the way."""

    log: SqliteLog
    conveyor: Conveyor
    authority: AskFirst = field(default_factory=AskFirst)
    person: Agreeable = field(default_factory=Agreeable)

    async def call(self, name: str, *, caller: Caller = AGENT, **arguments: JsonValue) -> Outcome:
        return await self.conveyor.call(name, arguments, caller)

    async def events(self, *types: str) -> list[Event]:
        await self.log.flush()
        return await self.log.query(EventQuery(types=types, limit=10_000))


@asynccontextmanager
async def door(folder: Path, *operations: object) -> AsyncIterator[Door]:
    """The operations, with a log of their own in the folder."""
    config, clock = Config(), SystemClock()
    folder.mkdir(parents=True, exist_ok=True)
    log = SqliteLog(
        path=folder / "ledger.db", projections=(IdempotencyTable(), UntrustedTable()), config=config.ledger, clock=clock
    )
    nobody, authority, person = Nobody(), AskFirst(), Agreeable()
    sessions = Sessions(
        log=log, repo=nobody, clock=clock, config=config.sessions, limits=config.limits, observer=nobody
    )
    ports = StagePorts(
        identity=Names(),
        authority=authority,
        approver=person,
        tasks=sessions,
        idempotency=IdempotencyKeys(log),
        log=log,
        blobs=log,
        repo=nobody,
        observer=nobody,
        clock=clock,
    )
    conveyor = Conveyor(catalogue=Catalogue(operations), ports=ports)
    try:
        yield Door(log=log, conveyor=conveyor, authority=authority, person=person)
    finally:
        await asyncio.to_thread(log.close)
