"""The whole of identity on a test's own log, behind a real conveyor, with a clock that tests move."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import AgentsConfig, Config, DevicesConfig, ServerConfig, SessionConfig, TaskLimits
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventScope
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Assessment, Result, Risk, operation
from codeplane.kernel.ports import Decision, Verdict
from codeplane.kernel.stages.ports import StagePorts
from codeplane.ledger.log import SqliteLog
from codeplane.trust.idempotency import IdempotencyKeys, IdempotencyTable
from codeplane.trust.identity import Identities
from codeplane.trust.identity.agent_operations import AgentToken
from codeplane.trust.identity.agents import Agents
from codeplane.trust.identity.device import DeviceTable
from codeplane.trust.identity.device_operations import DeviceToken, NoRequest, PairingCode
from codeplane.trust.identity.devices import Devices
from codeplane.trust.identity.issued_token import IssuedTokenTable
from codeplane.trust.identity.pairing import Pairing
from codeplane.trust.identity.parts import IdentityParts
from codeplane.trust.identity.signing_keys import SigningKeys
from codeplane.work.sessions import Sessions
from codeplane.work.tables import OperationTable, SessionTable, TaskTable
from tests.kernel.plane import ManualClock
from tests.ledger.logs import opened

TOKEN = "cpl_" + "o" * 43
OWNER = Caller(surface="connect", client="cpl", token=TOKEN)
NOBODY = Caller(surface="connect", client="curl")
MCP = Caller(surface="mcp", client="claude")
R = TypeVar("R", bound=Result)


def holding(token: str, surface: str = "connect") -> Caller:
    """Somebody who shows a token."""
    return Caller(surface=surface, client="phone", token=token)


class Waited(Result):
    """What a stream gives before it waits."""


class _Watching:
    """A stream that begins and then has nothing more to say."""

    @operation("fixture.watch", risk=Risk.READ)
    async def watch(self, call: Call, request: NoRequest) -> AsyncIterator[Waited]:
        """Say one thing, then wait for ever."""
        yield Waited()
        await asyncio.Event().wait()


class _Lenient:
    """An authority with nothing to say, so that only what identity refuses is refused."""

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        return Decision(verdict=Verdict.ALLOW)

    def may_write(self, call: Call, path: str) -> None:
        return None

    def event_scope(self, call: Call) -> EventScope | None:
        return None

    async def readable(self, call: Call, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids)

    async def replays(self, call: Call, result: Result) -> None:
        return None


class _Silent:
    """Nobody watches, and there is no repository."""

    def head(self) -> None:
        return None

    async def state(self) -> tuple[str, str | None]:
        return "", None

    def __getattr__(self, name: str) -> object:
        return lambda *args, **kwargs: None


@dataclass(kw_only=True)
class Desk:
    """Everything that identity is made of, wired as the application does it."""

    folder: Path
    clock: ManualClock
    log: SqliteLog
    identities: Identities
    pairing: Pairing
    devices: Devices
    agents: Agents
    keys: SigningKeys
    conveyor: Conveyor

    async def call(self, kind: type[R], operation: str, caller: Caller = OWNER, /, **arguments: JsonValue) -> R:
        """The result of a call by whoever the caller turns out to be; its error is raised."""
        outcome = await self.conveyor.call(operation, arguments, caller)
        if outcome.error is not None:
            raise outcome.error
        assert isinstance(outcome.result, kind)
        return outcome.result

    async def record(self, facts: Sequence[tuple[str, str, JsonObject]]) -> None:
        """Write facts to the log, as a call does: what is not there does not count."""
        await self.log.append([Draft(stream=stream, type=kind, payload=fact) for stream, kind, fact in facts])

    async def code(self) -> str:
        """A fresh pairing code."""
        return (await self.call(PairingCode, "pairing.create")).code

    async def pair(self, name: str = "phone") -> DeviceToken:
        """A fresh device."""
        return await self.call(DeviceToken, "pairing.bind", NOBODY, code=await self.code(), device_name=name)

    async def agent(self, agent: str = "reviewer", **more: JsonValue) -> AgentToken:
        """A fresh agent's token."""
        return await self.call(AgentToken, "agent.token", agent=agent, **more)

    def ledger_bytes(self) -> bytes:
        """All that the ledger has on disk."""
        return b"".join(path.read_bytes() for path in self.folder.glob("ledger.db*"))


@asynccontextmanager
async def desk(folder: Path, *, clock: ManualClock | None = None, **settings: float | bool) -> AsyncIterator[Desk]:
    """Identity on a folder; the same folder again is a restart."""
    clock = clock or ManualClock()
    sections = {
        "devices": DevicesConfig(**{k: v for k, v in settings.items() if k in DevicesConfig.model_fields}),
        "agents": AgentsConfig(**{k: v for k, v in settings.items() if k in AgentsConfig.model_fields}),
        "server": ServerConfig(**{k: v for k, v in settings.items() if k in ServerConfig.model_fields}),
    }
    tables = (SessionTable(), TaskTable(), OperationTable(), IdempotencyTable(), DeviceTable(), IssuedTokenTable())
    async with opened(folder / "ledger.db", projections=tables, clock=clock) as log:
        parts = IdentityParts.of(
            owner_token=TOKEN,
            server_key=folder / "server.key",
            agent_keys=folder / "agent.keys",
            config=Config(**sections),
            clock=clock,
        )
        await parts.restore(log)
        silent = _Silent()
        sessions = Sessions(
            log=log,
            repo=silent,
            clock=clock,
            config=SessionConfig(),
            limits=TaskLimits(),
            observer=silent,  # type: ignore[arg-type]  # answers to every name
        )
        ports = StagePorts(
            identity=parts.identities,
            authority=_Lenient(),
            approver=None,
            tasks=sessions,
            idempotency=IdempotencyKeys(log),
            log=log,
            blobs=log,
            repo=silent,
            observer=silent,  # type: ignore[arg-type]  # answers to every name
            clock=clock,
        )
        yield Desk(
            folder=folder,
            clock=clock,
            log=log,
            identities=parts.identities,
            pairing=parts.pairing,
            devices=parts.devices,
            agents=parts.agents,
            keys=parts.keys,
            conveyor=Conveyor(catalogue=Catalogue([*parts.operations, _Watching()]), ports=ports),
        )
