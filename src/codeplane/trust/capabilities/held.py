"""What an agent's token says it holds."""

from dataclasses import dataclass
from typing import Literal

from codeplane.kernel.config import Capability

ApprovalMode = Literal["automatic", "trust", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The claims of one token; a list that was not given restricts nothing, an empty one allows nothing."""

    capabilities: frozenset[Capability]
    expires_ns: int
    allowed_paths: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    max_agents: int | None = None
    approval_mode: ApprovalMode | None = None
