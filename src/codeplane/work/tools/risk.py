"""What a call of an outside tool may do: the owner's word, else what the server says if the owner trusts that."""

from dataclasses import dataclass
from typing import Literal

from codeplane.kernel.config import McpServerConfig, ToolRisk
from codeplane.kernel.external_tool import ExternalTool
from codeplane.kernel.operation import Assessment, Risk

RISKS: dict[ToolRisk, Risk] = {
    "read": Risk.READ,
    "write": Risk.WRITE,
    "exfiltration": Risk.EXFILTRATION,
    "high": Risk.HIGH,
    "destructive": Risk.DESTRUCTIVE,
}
# Why a risk counts: the owner set it, the owner trusts this very tool, or all that the server says, or nobody knows.
Basis = Literal["settings", "trusted", "hints", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedTool:
    """That the owner trusts a tool as it was announced, with the risk that they saw."""

    fingerprint: str
    risk: Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRisk:
    """The risk of a tool, and why that counts."""

    risk: Risk
    basis: Basis
    # Whether the owner trusted it as it was before.
    has_changed: bool = False

    def assessment(self, server: str, tool: str, *, is_confined: bool) -> Assessment:
        """What every call of the tool is taken to do."""
        effects: tuple[str, ...] = ()
        if self.basis == "unknown":
            changed = ", and it is another one than you trusted" if self.has_changed else ""
            effects = (f"nobody has said what {tool} of {server} can do{changed}",)
        elif self.risk is not Risk.READ:
            effects = (f"{self.risk.plain} through {tool} of {server}",)
        remotes = () if self.risk is Risk.READ or is_confined else (server,)
        return Assessment(risk=self.risk, effects=effects, remotes=remotes)


def judge_risk(
    tool: ExternalTool, config: McpServerConfig, trusted: TrustedTool | None, *, is_confined: bool
) -> JudgedRisk:
    """The risk of a tool; one that nobody has vouched for is of unknown risk, and asks in every mode."""
    override = config.tools.get(tool.name)
    word = override.risk if override is not None and override.risk is not None else config.risk
    if word is not None:
        return JudgedRisk(risk=RISKS[word], basis="settings")
    if trusted is not None and trusted.fingerprint == tool.fingerprint:
        return JudgedRisk(risk=trusted.risk, basis="trusted")
    if config.believe_hints:
        return JudgedRisk(risk=hinted_risk(tool, is_confined=is_confined), basis="hints")
    return JudgedRisk(risk=Risk.HIGH, basis="unknown", has_changed=trusted is not None)


def hinted_risk(tool: ExternalTool, *, is_confined: bool) -> Risk:
    """The risk that a server states, with the protocol's defaults: a missing hint counts as the worse.

    A server that reaches no other machine sends nothing out, whatever it says.
    """
    hints = tool.hints
    is_open = hints.open_world is not False and not is_confined
    if hints.read_only:
        return Risk.EXFILTRATION if is_open else Risk.READ
    if hints.destructive is not False:
        return Risk.DESTRUCTIVE
    return Risk.EXFILTRATION if is_open else Risk.WRITE
