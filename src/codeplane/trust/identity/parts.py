"""The parts of identity, built from the settings and two key files."""

from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import Config
from codeplane.kernel.ports import Ledger
from codeplane.trust.identity.agent_operations import AgentOperations, MostAgents
from codeplane.trust.identity.agents import Agents
from codeplane.trust.identity.change_signal import ChangeSignal
from codeplane.trust.identity.device_operations import DeviceOperations
from codeplane.trust.identity.devices import Devices
from codeplane.trust.identity.identities import Identities
from codeplane.trust.identity.pairing import Pairing
from codeplane.trust.identity.revocation import RevokeRights, revoke_nothing
from codeplane.trust.identity.server_key import ServerKey
from codeplane.trust.identity.signing_keys import SigningKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityParts:
    """Identities and their operations; only the owner is admitted until `restore`."""

    identities: Identities
    pairing: Pairing
    devices: Devices
    agents: Agents
    keys: SigningKeys
    operations: tuple[object, ...]

    @classmethod
    def of(
        cls,
        *,
        owner_token: str,
        server_key: Path,
        agent_keys: Path,
        config: Config,
        clock: Clock,
        revoke_rights: RevokeRights = revoke_nothing,
        most_agents: MostAgents | None = None,
    ) -> "IdentityParts":
        """Build the parts; the server's key is created when there is none.

        `revoke_rights` ends the rights that outlive a token, `most_agents` says how many agents an actor may start.
        """
        changes, key, keys = ChangeSignal(), ServerKey.at(server_key), SigningKeys(agent_keys, clock=clock)
        pairing = Pairing(key=key, clock=clock, config=config.devices)
        devices = Devices(key=key, clock=clock, config=config.devices, changes=changes)
        agents = Agents(keys=keys, clock=clock, config=config.agents, changes=changes)
        identities = Identities(
            owner_token,
            pairing=pairing,
            devices=devices,
            agents=agents,
            changes=changes,
            require_token=config.server.require_token,
        )
        return cls(
            identities=identities,
            pairing=pairing,
            devices=devices,
            agents=agents,
            keys=keys,
            operations=(
                DeviceOperations(pairing=pairing, devices=devices, revoke_rights=revoke_rights),
                AgentOperations(agents, revoke_rights=revoke_rights, most=most_agents),
            ),
        )

    async def restore(self, log: Ledger) -> None:
        """Load the devices and agents from the log."""
        await self.devices.restore(log)
        await self.agents.restore(log)
