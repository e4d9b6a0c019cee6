"""What a call may do: paths that nobody writes, what its caller holds, then what the policy says. In doubt, nothing."""

from typing import Protocol

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.operation import Assessment
from codeplane.kernel.place import InWorkspace
from codeplane.kernel.ports import Decision
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.capabilities.held import Held
from codeplane.trust.guarded import check_guarded
from codeplane.trust.policy.document import Circumstances, document
from codeplane.trust.policy.policy import Policy
from codeplane.trust.web.ingested import Ingestion


class Holdings(Protocol):
    """What tokens say."""

    def held(self, caller: Caller) -> Held | None:
        """What the caller's own token lets it do; None for callers whose rights come from elsewhere."""
        ...


class CallAuthority:
    """The authorise stage of the conveyor."""

    def __init__(
        self, *, holdings: Holdings, grants: Grants, policy: Policy, ingestion: Ingestion, config: TrustConfig
    ) -> None:
        self._holdings = holdings
        self._grants = grants
        self._policy = policy
        self._ingestion = ingestion
        self._config = config

    def decide(self, call: Call, assessment: Assessment) -> Decision:
        """Allow, ask or deny; CapabilityDenied when nothing the caller holds covers the call."""
        grant = self._grants.require(call.actor, self._holdings.held(call.caller), call.operation, assessment)
        circumstances = Circumstances.of(
            call,
            mode=self._config.mode,
            allow=self._config.allow,
            workspace=_workspace(call),
            untrusted=call.task is not None and self._ingestion.is_untrusted(call.task.task_id),
            grant={"approval_mode": mode} if (mode := grant.context.approval_mode) else None,
        )
        return self._policy.decide(
            document(
                actor=call.actor,
                operation=call.operation,
                assessment=assessment,
                circumstances=circumstances,
                arguments=call.arguments if self._policy.looks.at("arguments") else None,
            )
        )

    def check_path(self, call: Call, path: str) -> None:
        """PathDenied unless this call may write the path."""
        check_guarded(path)
        self._grants.check_path(call.actor, self._holdings.held(call.caller), path, call.operation)


def _workspace(call: Call) -> str:
    if not issubclass(call.operation.request, InWorkspace):
        return ""
    named = call.arguments.get("workspace")
    return named if isinstance(named, str) else ""
