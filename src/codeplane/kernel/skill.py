"""Skills: folders with a SKILL.md that tells an assistant how to do something."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill as it lies on the disk; one with a `problem` cannot be used."""

    name: str
    description: str
    # Where it lies, as people write it.
    location: str
    # Whether it came with the repository, so that somebody else may have written it.
    is_project: bool
    instructions: str
    # The tools that it asks to be restricted to; None is no restriction.
    allowed_tools: tuple[str, ...] | None
    # What lies beside SKILL.md, relative to it.
    files: tuple[str, ...]
    hash: str
    problem: str = ""


class SkillSource(Protocol):
    """Finds skills."""

    def find_skills(self) -> tuple[Skill, ...]:
        """All skills, also those with a problem; a name is there once, from the first place that has it. Blocks."""
        ...

    def parse_skill(self, name: str, text: str) -> Skill:
        """The skill that a SKILL.md in a folder of that name would be; its `problem` says what is wrong with it."""
        ...
