"""Trust: identities, permissions, approvals, and their audit."""

import os
from functools import partial
from pathlib import Path

from codeplane.adapters.notification_command import NotificationCommand
from codeplane.adapters.shell_processes import ShellProcesses
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.adapters.web_fetch import WebFetch, is_own_address
from codeplane.adapters.webhook import Webhook
from codeplane.disk.git_folders import git_folders
from codeplane.kernel.catalogue import Disabled
from codeplane.kernel.config import NotificationsConfig
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.json import JsonObject
from codeplane.kernel.notification_channel import NotificationChannel
from codeplane.ledger.payloads import PayloadStore
from codeplane.testing.environment import clean_environment
from codeplane.testing.suite import CACHE
from codeplane.trust.approvals.action_outcome import OutcomeReader
from codeplane.trust.approvals.action_runner import ActionRunner
from codeplane.trust.approvals.approvals import Approvals
from codeplane.trust.approvals.operations import ApprovalOperations
from codeplane.trust.approvals.remembered_answer import RememberedAnswers, RememberedAnswerTable
from codeplane.trust.approvals.table import ActionTable
from codeplane.trust.audit.operations import AuditOperations
from codeplane.trust.audit.table import AuditTable
from codeplane.trust.authority import CallAuthority
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.capabilities.operations import CapabilityOperations
from codeplane.trust.capabilities.path_scope import link_resolver
from codeplane.trust.capabilities.table import GrantTable
from codeplane.trust.clients.operations import ClientOperations
from codeplane.trust.clients.registry import ClientRegistry, ClientTable
from codeplane.trust.delegation import Delegation
from codeplane.trust.idempotency import IdempotencyTable
from codeplane.trust.identity.device import DeviceTable
from codeplane.trust.identity.issued_token import IssuedTokenTable
from codeplane.trust.identity.parts import IdentityParts
from codeplane.trust.notifications.channel_operations import ChannelOperations
from codeplane.trust.notifications.delivery import NotificationDelivery
from codeplane.trust.notifications.operations import NotificationOperations
from codeplane.trust.notifications.table import NotificationTable
from codeplane.trust.policy.folder import PolicyFolder
from codeplane.trust.policy.operations import PolicyOperations
from codeplane.trust.policy.policy import Policy
from codeplane.trust.policy.precheck import Precheck
from codeplane.trust.revocation import RightsRevocation
from codeplane.trust.shell.operations import ShellOperations, ShellParts
from codeplane.trust.shell.sandbox import MARK
from codeplane.trust.untrusted.operations import UntrustedOperations
from codeplane.trust.untrusted.rule import UntrustedRule
from codeplane.trust.untrusted.table import UntrustedTable
from codeplane.trust.web.operations import WebOperations, WebParts
from codeplane.trust.web.public_address import public_address_check
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep
from codeplane.wiring.repository import RepositoryWiring


class TrustWiring(PlaneWiring):
    """Builds what decides about calls."""

    tables = (
        IdempotencyTable,
        ActionTable,
        RememberedAnswerTable,
        DeviceTable,
        IssuedTokenTable,
        GrantTable,
        AuditTable,
        NotificationTable,
        UntrustedTable,
        ClientTable,
    )

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation, workspace = self.foundation, self.foundation.workspace
        config, log, clock = foundation.config, foundation.log, foundation.clock
        self._logger = foundation.logs.logger("trust")
        self.grants = Grants(
            log=log,
            clock=clock,
            config=config.trust,
            real=link_resolver(workspace.root),
            gits=partial(git_folders, workspace.root),
        )
        self.clients = ClientRegistry()
        self._remembered = RememberedAnswers(log=log, clock=clock)
        self.approvals = Approvals(
            log=log,
            payloads=PayloadStore(log=log, seal=foundation.seal, max_bytes=config.ledger.blob_bytes // 4),
            clock=clock,
            config=config.approvals,
            remembered=self._remembered,
            redactor=foundation.redactor,
            clients=self.clients,
        )
        self.identity = IdentityParts.of(
            owner_token=foundation.token,
            server_key=workspace.server_key,
            agent_keys=workspace.agent_keys,
            config=config,
            clock=clock,
            revoke_rights=RightsRevocation(grants=self.grants, approvals=self.approvals),
            most_agents=self.grants.max_agents,
        )
        self._engine = foundation.engine
        self.policy = Policy(
            folder=workspace.policy,
            engine=self._engine,
            config=config.policy,
            clock=clock,
            log=log,
            logger=self._logger,
            catalogue=foundation.catalogue,
        )
        self.untrusted = foundation.untrusted
        # Hooks and filters of git that cannot be kept from the network.
        self._rule = UntrustedRule(house.plane(RepositoryWiring).edits.git.online_programs)
        self.authority = CallAuthority(
            holdings=self.identity.identities,
            grants=self.grants,
            delegation=Delegation(
                grants=self.grants,
                token_rights=self.identity.identities.token_rights,
                is_live=self.identity.identities.is_live,
            ),
            policy=self.policy,
            untrusted=self.untrusted,
            rule=self._rule,
            config=config.trust,
        )
        self.resuming = ActionRunner(
            approvals=self.approvals,
            is_live=self.identity.identities.is_live,
            on_crash=lambda error: self._logger.error("an approved action could not be run", exc_info=error),
        )
        self.delivery = NotificationDelivery(
            log=log,
            clock=clock,
            channels=_channels(config.notifications),
            repository=workspace.root.name,
            per_minute=config.notifications.per_minute,
            redactor=foundation.outward,
            on_problem=lambda problem: self._logger.warning(f"a notification was not delivered: {problem}"),
        )

    def part(self, conveyor: Conveyor) -> Part:
        return Part(
            operations=self._operations(),
            status={"policy": self.policy.state},
            problems=self.policy.problems,
            restore=self._restore,
            start=lambda: self.resuming.start(conveyor.call),
            tasks=(self.policy.watch,),
            sweeps=(Sweep(run=self.approvals.sweep), Sweep(run=self._sweep_grants)),
            stop=self._stop,
        )

    def _operations(self) -> tuple[object, ...]:
        foundation, config = self.foundation, self.foundation.config
        log, clock, cursors = foundation.log, foundation.clock, foundation.cursors
        identities = self.identity.identities
        return (
            *self.identity.operations,
            CapabilityOperations(
                grants=self.grants,
                held_of=lambda call: identities.token_rights(call.caller),
                log=log,
                clock=clock,
                cursors=cursors,
            ),
            ApprovalOperations(
                approvals=self.approvals,
                remembered=self._remembered,
                log=log,
                cursors=cursors,
                clock=clock,
                outcomes=OutcomeReader(log, foundation.catalogue),
                untrusted=self.untrusted,
            ),
            UntrustedOperations(self.untrusted),
            ClientOperations(self.clients),
            PolicyOperations(
                policy=self.policy,
                engine=self._engine,
                folder=PolicyFolder(path=foundation.workspace.policy),
                trust=config.trust,
                precheck=Precheck(grants=self.grants),
                untrusted=self.untrusted,
                rule=self._rule,
                catalogue=foundation.catalogue,
            ),
            AuditOperations(
                log=log,
                cursors=cursors,
                exports=foundation.workspace.exports,
                scope_of=self.authority.event_scope,
            ),
            NotificationOperations(log=log, cursors=cursors),
            ChannelOperations(
                log=log,
                clock=clock,
                delivery=self.delivery,
                reach_outs_per_hour=config.notifications.reach_outs_per_hour,
            ),
            build_shell(foundation, foundation.workspace.root),
            WebOperations(
                WebParts(
                    config=config.web,
                    network=WebFetch(),
                    check=public_address_check(is_own_address),
                    untrusted=self.untrusted,
                )
            )
            if config.web.enabled
            else Disabled(owner=WebOperations, setting="web.enabled"),
        )

    async def _restore(self) -> JsonObject:
        log = self.foundation.log
        await self.identity.restore(log)
        await self.grants.restore()
        await self.untrusted.restore(log)
        await self.clients.restore(log)
        return {}

    async def _sweep_grants(self) -> None:
        await self.grants.sweep()

    async def _stop(self) -> None:
        await self.delivery.stop()
        await self.resuming.stop()
        self.policy.close()


def build_shell(foundation: Foundation, root: Path) -> ShellOperations | Disabled:
    """The operations that run commands in a work tree, or their stand-ins when disabled."""
    workspace = foundation.workspace
    if not foundation.config.shell.enabled:
        return Disabled(owner=ShellOperations, setting="shell.enabled")
    return ShellOperations(
        ShellParts(
            root=root,
            config=foundation.config.shell,
            clock=foundation.clock,
            sandbox=ShellSandbox(
                root=root,
                own=workspace.home,
                cache=workspace.home / "tests" / CACHE,
                home=Path.home(),
                environment=os.environ,
                secrets=foundation.secrets,
            ),
            processes=ShellProcesses(variable=MARK),
            environment=partial(clean_environment, os.environ),
            ingest=foundation.untrusted.mark,
            redactor=foundation.redactor,
        )
    )


def _channels(config: NotificationsConfig) -> tuple[NotificationChannel, ...]:
    """The ways to reach the owner that their settings name."""
    command = (NotificationCommand(config.command),) if config.command else ()
    return (*command, Webhook(config.webhook)) if config.webhook else command
