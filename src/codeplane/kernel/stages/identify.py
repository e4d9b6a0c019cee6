"""Stage 2: who calls, in which workspace, and which task the call belongs to."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.call import Call, Operation, Task
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import Internal, SessionClosed, SessionNotFound
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.job_tree import JobOperation
from codeplane.kernel.ports import Authority, Identity, Tasks
from codeplane.kernel.result_redaction import ResultRedaction
from codeplane.kernel.stages.idempotency import KeyClaims
from codeplane.kernel.stages.progress import Identified, Received, Validated
from codeplane.kernel.workspace_request import WorkspaceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Identify:
    """Refuses callers that are not known and sessions that are not theirs."""

    name: ClassVar[str] = "identify"
    elsewhere: Callable[[str], Catalogue]
    job_operation: JobOperation
    identity: Identity
    tasks: Tasks
    keys: KeyClaims
    authority: Authority
    log: EventLog
    redaction: ResultRedaction

    async def run(self, validated: Validated) -> Identified:
        """Find the actor and its task, and make the call that the handler sees."""
        received, request = validated.received, validated.request
        operation, workspace = validated.operation, ""
        actor = received.actor = actor_of(received.caller, operation.name, self.identity)
        if isinstance(request, WorkspaceRequest) and request.workspace:
            workspace = request.workspace
            # Handler, assessment and preview of that workspace.
            operation = received.operation = self.elsewhere(workspace).get(operation.name)
        elif (origin := received.caller.origin) is not None and (tree_id := origin.tree_id or origin.job_id):
            operation = received.operation = await self.job_operation(tree_id, operation)
        task = await self._enter(received, actor, operation)
        return Identified(
            received=received,
            request=request,
            workspace=workspace,
            task=task,
            call=Call(
                call_id=received.call_id,
                request_id=received.request_id,
                operation=operation,
                caller=received.caller,
                actor=actor,
                task=task,
                idempotency_key=received.key,
                log=self.log,
                check_path=self.authority.may_write,
                find_scope=self.authority.event_scope,
                redact=partial(self.redaction.text, actor),
                secrets_in=partial(self.redaction.secrets_in, actor),
                secrets_margin=partial(self.redaction.margin, actor),
                request=request,
            ),
        )

    async def _enter(self, received: Received, actor: Actor, operation: Operation) -> Task:
        """The call's task; a repeated call is answered even when the first one ended the session it names."""
        try:
            return self.tasks.enter(received.caller, actor, received.session_id or received.caller.session_id)
        except (SessionClosed, SessionNotFound):
            if not operation.mutates or received.key is None:
                raise
            if await self.keys.claim(received, operation.name, received.key) is None:
                raise
            return self.tasks.enter(received.caller, actor, None)


def actor_of(caller: Caller, operation: str, identity: Identity) -> Actor:
    """The actor behind a caller; calls of the plane itself name theirs, and they alone have an origin."""
    if caller.origin is not None and caller.actor is None:
        raise Internal(f"a call over {caller.surface} has an origin and no actor")
    return caller.actor or identity.identify(caller, operation)
