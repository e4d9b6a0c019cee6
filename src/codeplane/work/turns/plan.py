"""What was asked for in a turn, sealed with its work item."""

import json
from dataclasses import dataclass

from codeplane.kernel.errors import ResultGone
from codeplane.kernel.event import SealedPayload
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.ports import Payloads
from codeplane.work.items.item import WorkItem
from codeplane.work.skills.library import ChosenSkill


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlan:
    """The message of a turn, and how it is to be answered."""

    user_text: str
    reasoning: str
    toolset: str
    model: str
    # What its calls ask about, where that is stricter than the owner's setting.
    mode: str = ""
    skills: tuple[ChosenSkill, ...] = ()
    # The outside agent that answers it; empty where a model does.
    agent: str = ""

    def seal(self, payloads: Payloads, work_id: str) -> SealedPayload:
        """The plan as it is stored with its work item."""
        values: JsonObject = {
            "user_text": self.user_text,
            "reasoning": self.reasoning,
            "toolset": self.toolset,
            "model": self.model,
            "mode": self.mode,
            "skills": [skill.to_json() for skill in self.skills],
            "agent": self.agent,
        }
        return payloads.seal(work_id, canonical(values))

    @classmethod
    async def load(cls, payloads: Payloads, item: WorkItem) -> "TurnPlan":
        """The plan of an item."""
        data = await payloads.get(item.work_id, item.payload_hash)
        if data is None:
            raise ResultGone(f"what was asked in {item.work_id} is no longer stored")
        values = json.loads(data)
        return cls(
            user_text=str(values["user_text"]),
            reasoning=str(values["reasoning"]),
            toolset=str(values["toolset"]),
            model=str(values["model"]),
            # Plans of earlier versions do not have it.
            mode=str(values.get("mode") or ""),
            skills=tuple(map(ChosenSkill.from_json, values.get("skills", ()))),
            agent=str(values.get("agent", "")),
        )

    @property
    def skill_text(self) -> str:
        """What the chosen skills say, for the model."""
        parts = [
            f"The person chose the skill {skill.name} ({skill.location}) for this message. Do as it says:\n"
            f"<skill>\n{skill.instructions}\n</skill>"
            for skill in self.skills
        ]
        return "\n\n".join(parts)
