"""Why a change breaks users, or does not."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Verdict:
    """Reasons, those that break users apart from the others; tags of the taxonomy."""

    breaking: list[str] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def tag(self, *names: str) -> None:
        """Note tags once."""
        self.tags += [name for name in names if name not in self.tags]

    def say(self, why: str, *, breaks: bool, tag: str = "signature_changed") -> None:
        """Note one reason."""
        (self.breaking if breaks else self.harmless).append(why)
        self.tag(tag)
