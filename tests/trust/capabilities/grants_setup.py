"""The real log with the tables of grants, audit and notifications, and calls made by hand."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import differences
from codeplane.trust.approvals.table import ActionTable
from codeplane.trust.audit.operations import AuditOperations
from codeplane.trust.audit.table import AuditTable
from codeplane.trust.capabilities.grant import TokenRights
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.capabilities.operations import CapabilityOperations
from codeplane.trust.capabilities.path_scope import link_resolver
from codeplane.trust.capabilities.table import GrantTable
from codeplane.trust.notifications.operations import NotificationOperations
from codeplane.trust.notifications.table import NotificationTable
from tests.kernel.plane import FixtureOps, ManualClock
from tests.ledger.logs import opened

OWNER = Actor(kind=ActorKind.OWNER, actor_id="owner")
DEVICE = Actor(kind=ActorKind.DEVICE, actor_id="dev_1")
AGENT = Actor(kind=ActorKind.AGENT, actor_id="bot")
OTHER = Actor(kind=ActorKind.AGENT, actor_id="other")
ASSISTANT = Actor(kind=ActorKind.ASSISTANT, actor_id="helper")
JOB = Actor(kind=ActorKind.JOB, actor_id="nightly")
SYSTEM = Actor(kind=ActorKind.SYSTEM, actor_id="probe")
PEOPLE = (OWNER, DEVICE)
DRIVEN = (AGENT, ASSISTANT, JOB)


@dataclass(slots=True, kw_only=True)
class Rig:
    """Everything of this part of the trust plane, wired."""

    log: SqliteLog
    clock: ManualClock
    grants: Grants
    catalogue: Catalogue
    held: dict[str, TokenRights]

    async def call(self, name: str, arguments: JsonObject, actor: Actor, *, action_id: str | None = None) -> Result:
        """Run an operation as the conveyor would after all its stages."""
        operation = self.catalogue.get(name)
        call = Call(
            call_id="call_1",
            request_id="req_1",
            operation=operation,
            caller=Caller(surface="test"),
            actor=actor,
            task=None,
            idempotency_key=None,
            log=self.log,
            check_path=lambda actor, path: None,
            find_scope=lambda call: None,
            action_id=action_id,
        )
        answer = await operation.handler(call, operation.request.model_validate(arguments))  # type: ignore[misc]  # no stream
        assert isinstance(answer, Result)
        return answer

    def differing(self) -> list[str]:
        """Tables whose live rows are not those of a rebuild."""
        connection = sqlite3.connect(self.log.path)
        try:
            return [table for one in self.log.projector.projections for table in differences(connection, one)]
        finally:
            connection.close()


@asynccontextmanager
async def rig(
    folder: Path, *, trust: TrustConfig | None = None, clock: ManualClock | None = None, held: TokenRights | None = None
) -> AsyncIterator[Rig]:
    """A rig on a folder; opened again on the same one it is a restart."""
    clock = clock or ManualClock()
    root = folder / "repo"
    root.mkdir(parents=True, exist_ok=True)
    tokens = {str(AGENT): held} if held is not None else {}
    async with opened(
        folder / "l.db", projections=(ActionTable(), GrantTable(), AuditTable(), NotificationTable()), clock=clock
    ) as log:
        grants = Grants(log=log, clock=clock, config=trust or TrustConfig(), real=link_resolver(root))
        await grants.restore()
        cursors = Cursors(clock=clock)
        catalogue = Catalogue(
            [
                CapabilityOperations(
                    grants=grants,
                    held_of=lambda call: tokens.get(str(call.actor)),
                    log=log,
                    clock=clock,
                    cursors=cursors,
                ),
                AuditOperations(log=log, cursors=cursors, exports=folder / "exports", scope_of=lambda call: None),
                NotificationOperations(log=log, cursors=cursors),
                FixtureOps(),
            ]
        )
        yield Rig(log=log, clock=clock, grants=grants, catalogue=catalogue, held=tokens)
