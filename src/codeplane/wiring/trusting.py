"""The trust plane put together: who calls, what they may do, whom they ask, and what is told of it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codeplane.adapters.rego import Rego
from codeplane.adapters.secret_files import SecretFiles
from codeplane.adapters.shell_processes import ShellProcesses
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.adapters.web_fetch import WebFetch, is_own
from codeplane.kernel.catalogue import Catalogue, Disabled
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import Config
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.git_folders import git_folders
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import Projection
from codeplane.observe.logs import Logs
from codeplane.testing.environment import clean
from codeplane.testing.suite import CACHE
from codeplane.trust.approvals.approver import Approvals
from codeplane.trust.approvals.operations import ApprovalOperations
from codeplane.trust.approvals.outcomes import Outcomes
from codeplane.trust.approvals.remembered import RememberedAnswers, RememberedTable
from codeplane.trust.approvals.resuming import Resuming
from codeplane.trust.approvals.table import ActionTable
from codeplane.trust.audit.operations import AuditOperations
from codeplane.trust.audit.table import AuditTable
from codeplane.trust.authority import CallAuthority
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.capabilities.operations import CapabilityOperations
from codeplane.trust.capabilities.paths import real_below
from codeplane.trust.capabilities.table import GrantTable
from codeplane.trust.clients.operations import ClientOperations
from codeplane.trust.clients.registry import ClientRegistry, ClientTable
from codeplane.trust.idempotency import IdempotencyTable
from codeplane.trust.identity.device import DeviceTable
from codeplane.trust.identity.issued import AgentTable
from codeplane.trust.identity.parts import IdentityParts
from codeplane.trust.letting_go import LettingGo
from codeplane.trust.notifications.operations import NotificationOperations
from codeplane.trust.notifications.table import NotificationTable
from codeplane.trust.policy.bounds import Bounds
from codeplane.trust.policy.engine import Engine
from codeplane.trust.policy.folder import PolicyFolder
from codeplane.trust.policy.operations import PolicyOperations
from codeplane.trust.policy.policy import Policy
from codeplane.trust.shell.enclosure import MARK
from codeplane.trust.shell.operations import ShellOperations, ShellParts
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.untrusted.operations import UntrustedOperations
from codeplane.trust.untrusted.rule import UntrustedRule
from codeplane.trust.untrusted.table import UntrustedTable
from codeplane.trust.web.addresses import strict
from codeplane.trust.web.operations import WebOperations, WebParts


def trust_tables() -> tuple[Projection, ...]:
    """What the trust plane keeps of the log."""
    return (
        IdempotencyTable(),
        ActionTable(),
        RememberedTable(),
        DeviceTable(),
        AgentTable(),
        GrantTable(),
        AuditTable(),
        NotificationTable(),
        UntrustedTable(),
        ClientTable(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusting:
    """Everything between a caller and what it asks for."""

    identity: IdentityParts
    grants: Grants
    policy: Policy
    authority: CallAuthority
    approvals: Approvals
    untrusted: UntrustedMarks
    clients: ClientRegistry
    resuming: Resuming
    operations: tuple[object, ...]
    describe: Callable[[Catalogue], None]

    async def restore(self, log: SqliteLog) -> None:
        """Know again who was let in and what was granted."""
        await self.identity.restore(log)
        await self.grants.restore()
        await self.untrusted.restore(log)
        await self.clients.restore(log)

    async def sweep(self) -> None:
        """What has to be looked at now and then: questions and grants whose time is over."""
        await self.approvals.sweep()
        await self.grants.sweep()


def trusting(
    workspace: Workspace,
    *,
    config: Config,
    log: SqliteLog,
    clock: Clock,
    logs: Logs,
    cursors: Cursors,
    owner_token: str,
    redactor: Redactor,
    secrets: SecretFiles,
    untrusted: UntrustedMarks,
    online_programs: Callable[[], tuple[str, ...]],
    engine: Engine | None = None,
) -> Trusting:
    """The trust plane of one workspace; policies are run by `engine`, or by one of its own.

    `online_programs` are the hooks and filters of git that cannot be kept from the network.
    """
    said = logs.logger("trust")
    identity = IdentityParts.of(
        owner_token=owner_token,
        server_key=workspace.server_key,
        agent_keys=workspace.agent_keys,
        config=config,
        clock=clock,
    )
    grants = Grants(
        log=log,
        clock=clock,
        config=config.trust,
        real=real_below(workspace.root),
        gits=partial(git_folders, workspace.root),
    )
    identity.agent_operations.bounded_by(grants.most_agents)
    engine = engine or Rego(timeout_ms=config.policy.timeout_ms)
    policy = Policy(folder=workspace.policy, engine=engine, config=config.policy, clock=clock, log=log, logger=said)
    rule = UntrustedRule(online_programs)
    remembered = RememberedAnswers(log=log, clock=clock)
    clients = ClientRegistry()
    approvals = Approvals(
        log=log,
        clock=clock,
        config=config.approvals,
        remembered=remembered,
        redactor=redactor,
        clients=clients,
    )
    identity.lets_go(LettingGo(grants=grants, approvals=approvals))
    policies = PolicyOperations(
        policy=policy,
        engine=engine,
        folder=PolicyFolder(path=workspace.policy),
        trust=config.trust,
        bounds=Bounds(grants=grants),
        untrusted=untrusted,
        rule=rule,
    )
    outcomes = Outcomes(log)

    def describe(catalogue: Catalogue) -> None:
        policies.describe(catalogue)
        outcomes.describe(catalogue)

    return Trusting(
        identity=identity,
        grants=grants,
        policy=policy,
        authority=CallAuthority(
            holdings=identity.identities,
            grants=grants,
            policy=policy,
            untrusted=untrusted,
            rule=rule,
            config=config.trust,
        ),
        approvals=approvals,
        untrusted=untrusted,
        clients=clients,
        resuming=Resuming(
            approvals=approvals,
            blobs=log,
            is_live=identity.identities.is_live,
            on_crash=lambda error: said.error("an approved action could not be run", exc_info=error),
        ),
        operations=(
            *identity.operations,
            CapabilityOperations(
                grants=grants,
                held_of=lambda call: identity.identities.held(call.caller),
                log=log,
                clock=clock,
                cursors=cursors,
            ),
            ApprovalOperations(
                approvals=approvals,
                remembered=remembered,
                log=log,
                cursors=cursors,
                clock=clock,
                outcomes=outcomes,
                untrusted=untrusted,
            ),
            UntrustedOperations(untrusted),
            ClientOperations(registry=clients, log=log),
            policies,
            AuditOperations(log=log, cursors=cursors, exports=workspace.exports),
            NotificationOperations(log=log, cursors=cursors),
            _shell(workspace, config, clock, untrusted, redactor, secrets)
            if config.shell.enabled
            else Disabled(owner=ShellOperations, setting="shell.enabled"),
            WebOperations(WebParts(config=config.web, network=WebFetch(), check=strict(is_own), untrusted=untrusted))
            if config.web.enabled
            else Disabled(owner=WebOperations, setting="web.enabled"),
        ),
        describe=describe,
    )


def _shell(
    workspace: Workspace,
    config: Config,
    clock: Clock,
    untrusted: UntrustedMarks,
    redactor: Redactor,
    secrets: SecretFiles,
) -> ShellOperations:
    return ShellOperations(
        ShellParts(
            root=workspace.root,
            config=config.shell,
            clock=clock,
            sandbox=ShellSandbox(
                root=workspace.root,
                own=workspace.home,
                cache=workspace.home / "tests" / CACHE,
                home=Path.home(),
                environment=os.environ,
                secrets=secrets,
            ),
            processes=ShellProcesses(variable=MARK),
            environment=partial(clean, os.environ),
            ingest=untrusted.mark,
            redactor=redactor,
        )
    )
