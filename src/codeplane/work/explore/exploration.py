"""An exploration: what was asked for, as its work item keeps it."""

import json
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject, canonical
from codeplane.work.explore.target import Target

KIND = "explore"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorePolicy:
    """What an exploration may do beyond reading."""

    allow_external_llms: bool = False
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What is explored, to what end, and under which policy."""

    target: Target
    goals: tuple[str, ...]
    policy: ExplorePolicy = ExplorePolicy()
    model: str = ""
    planner: str = "rules"
    # The exploration whose results are taken over where nothing has changed since.
    resumes: str = ""
    # The version of CodePlane that has answered; none in what older ones recorded.
    version: str = ""

    def to_bytes(self) -> bytes:
        """The exploration as its payload is kept."""
        values: JsonObject = {
            "target": self.target.to_json(),
            "goals": list(self.goals),
            "allow_external_llms": self.policy.allow_external_llms,
            "network": self.policy.network,
            "model": self.model,
            "planner": self.planner,
            "resumes": self.resumes,
            "version": self.version,
        }
        return canonical(values)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Exploration":
        """The exploration that `to_bytes` wrote."""
        values = json.loads(data)
        policy = ExplorePolicy(allow_external_llms=values["allow_external_llms"], network=values["network"])
        return cls(
            target=Target.from_json(values["target"]),
            goals=tuple(values["goals"]),
            policy=policy,
            model=values["model"],
            planner=values["planner"],
            resumes=values["resumes"],
            version=values.get("version", ""),
        )
