"""The verdict on a change."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Verdict:
    """The breaking and harmless reasons of a change, and its tags."""

    breaking: list[str] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    widening: int = 0
    """The number of harmless reasons that leave every call valid."""

    @property
    def keeps_calls(self) -> bool:
        """Whether existing calls stay valid."""
        return not self.breaking and 0 < len(self.harmless) == self.widening

    def tag(self, *names: str) -> None:
        """Add tags, each once."""
        self.tags += [name for name in names if name not in self.tags]

    def join(self, other: "Verdict") -> None:
        """Add the reasons and tags of another verdict."""
        self.breaking += other.breaking
        self.harmless += other.harmless
        self.widening += other.widening
        self.tag(*other.tags)

    def add(self, why: str, *, breaks: bool, tag: str = "signature_changed", widens: bool = False) -> None:
        """Add a reason; `widens` if it only gives calls more freedom."""
        (self.breaking if breaks else self.harmless).append(why)
        self.widening += widens and not breaks
        self.tag(tag)
