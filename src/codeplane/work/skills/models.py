"""Requests and results of the skill operations."""

from pydantic import Field

from codeplane.kernel.operation import Request, Result
from codeplane.kernel.skill import Skill

MAX_CHOSEN = 5


class SkillRequest(Request):
    """A skill."""

    name: str = Field(min_length=1, max_length=64, description="as skill_list has it")


class TrustSkillRequest(SkillRequest):
    """A skill as a person has seen it."""

    hash: str = Field(
        min_length=12, max_length=64, pattern="^[0-9a-f]+$", description="its hash, or the beginning of it"
    )


class NoRequest(Request):
    """Nothing."""


class SkillView(Result):
    """A skill; `state` is ready, untrusted, changed since it was trusted, or broken."""

    name: str
    description: str
    location: str
    state: str
    hash: str
    allowed_tools: tuple[str, ...] | None
    problem: str

    @classmethod
    def of(cls, skill: Skill, state: str) -> "SkillView":
        """The skill as callers see it."""
        return cls(
            name=skill.name,
            description=skill.description,
            location=skill.location,
            state=state,
            hash=skill.hash,
            allowed_tools=skill.allowed_tools,
            problem=skill.problem,
        )

    def text(self) -> str:
        return f"{self.name} ({self.state}, {self.location}): {self.problem or self.description}"


class SkillPage(Result):
    """All skills."""

    skills: tuple[SkillView, ...]

    def text(self) -> str:
        return "\n".join(skill.text() for skill in self.skills) or "no skills"


class WholeSkill(SkillView):
    """A skill with what it says and the files beside it."""

    instructions: str
    files: tuple[str, ...]

    def text(self) -> str:
        files = f"\nfiles: {', '.join(self.files)}" if self.files else ""
        allowed = f"\nonly: {', '.join(self.allowed_tools)}" if self.allowed_tools is not None else ""
        return f"{super().text()}\nhash {self.hash}{allowed}{files}\n\n{self.instructions}"


class LoadedSkill(Result):
    """What a skill says."""

    name: str
    location: str
    instructions: str
    files: tuple[str, ...]

    def text(self) -> str:
        files = f"\n\nFiles in {self.location}: {', '.join(self.files)}" if self.files else ""
        return self.instructions + files
