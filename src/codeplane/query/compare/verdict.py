"""Why a change breaks users, or does not."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Verdict:
    """Reasons, those that break users apart from the others; tags of the taxonomy."""

    breaking: list[str] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    widening: int = 0
    """How many of the harmless ones leave every call as valid as it was."""

    @property
    def keeps_calls(self) -> bool:
        """Whether calls stay valid as they are written: all that changed is what they may give besides."""
        return not self.breaking and 0 < len(self.harmless) == self.widening

    def tag(self, *names: str) -> None:
        """Note tags once."""
        self.tags += [name for name in names if name not in self.tags]

    def say(self, why: str, *, breaks: bool, tag: str = "signature_changed", widens: bool = False) -> None:
        """Note one reason; `widens` where it only lets calls give more, or less, than before."""
        (self.breaking if breaks else self.harmless).append(why)
        self.widening += widens and not breaks
        self.tag(tag)
