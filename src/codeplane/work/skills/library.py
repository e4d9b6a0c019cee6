"""Which skills there are, and which of them may be used."""

import asyncio
from dataclasses import dataclass

from codeplane.kernel.errors import SkillNotFound, SkillNotTrusted
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import ProjectionStore
from codeplane.kernel.skill import Skill, SkillSource

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSkill:
    """A skill as a turn is given it: what it says then counts, whatever becomes of its folder."""

    name: str
    hash: str
    location: str
    instructions: str
    allowed_tools: tuple[str, ...] | None

    def to_json(self) -> JsonObject:
        """The skill as plans keep it."""
        allowed: list[JsonValue] | None = None if self.allowed_tools is None else list(self.allowed_tools)
        return {
            "name": self.name,
            "hash": self.hash,
            "location": self.location,
            "instructions": self.instructions,
            "allowed_tools": allowed,
        }

    @classmethod
    def from_json(cls, values: JsonObject) -> "ChosenSkill":
        """The skill that `to_json` wrote."""
        allowed = values["allowed_tools"]
        return cls(
            name=str(values["name"]),
            hash=str(values["hash"]),
            location=str(values["location"]),
            instructions=str(values["instructions"]),
            allowed_tools=tuple(map(str, allowed)) if isinstance(allowed, list) else None,
        )


class SkillLibrary:
    """Skills on the disk with what the owner thinks of them."""

    def __init__(self, source: SkillSource, log: ProjectionStore) -> None:
        self.source = source
        self._log = log

    async def skills(self) -> tuple[Skill, ...]:
        """All skills, as they are now."""
        return await asyncio.to_thread(self.source.find_skills)

    async def skill(self, name: str) -> Skill:
        """A skill by its name."""
        skills = await self.skills()
        for skill in skills:
            if skill.name == name:
                return skill
        names = ", ".join([skill.name for skill in skills if not skill.problem][:_SHOWN])
        raise SkillNotFound(f"there is no skill {name[:64]!r}", hint=f"there are: {names}" if names else None)

    async def is_trusted(self, skill: Skill) -> bool:
        """Whether a skill may be used: it is the owner's own, or the owner trusts it as it is now."""
        if not skill.is_project:
            return True
        rows = await self._log.select("SELECT 1 FROM skill_trust WHERE name = ? AND hash = ?", (skill.name, skill.hash))
        return bool(rows)

    async def state(self, skill: Skill) -> str:
        """What can be done with a skill, in a word."""
        if skill.problem:
            return "broken"
        if await self.is_trusted(skill):
            return "ready"
        known = await self._log.select("SELECT 1 FROM skill_trust WHERE name = ?", (skill.name,))
        return "changed" if known else "untrusted"

    async def choose(self, name: str) -> ChosenSkill:
        """A skill to be used in a turn; SkillNotTrusted for one that its owner has not looked at."""
        skill = await self.skill(name)
        if skill.problem:
            raise SkillNotFound(f"{skill.location} cannot be used: {skill.problem}", hint="fix it, then ask again")
        if not await self.is_trusted(skill):
            raise SkillNotTrusted(
                f"{skill.location} came with the repository and is not trusted as it is now",
                hint=f"read it, then: cpl skills trust {skill.name}",
            )
        return ChosenSkill(
            name=skill.name,
            hash=skill.hash,
            location=skill.location,
            instructions=skill.instructions,
            allowed_tools=skill.allowed_tools,
        )
