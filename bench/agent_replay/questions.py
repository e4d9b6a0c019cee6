"""What a policy is asked, and what it answers: nothing here says what is right."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

Kind = Literal["locate", "understand", "change", "rename", "tests", "review"]
Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Locate:
    """Which files and functions a change with this message is about."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Understand:
    """What a function of a file does, and the lines that use it."""

    path: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A place by its definition, what stands there, and what shall; an agent sees `old` only after it has looked."""

    path: str
    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Edits to make, each in a definition that is named."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """A definition of a file that gets another name, wherever it is used."""

    path: str
    name: str
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tests:
    """Which test files to look at when these files change."""

    # No class of tests.
    __test__: ClassVar[bool] = False

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What changed between two commits in the public interface."""

    base: str
    target: str


Question = Locate | Understand | Change | Rename | Tests | Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a policy makes of the answers it read; changes are in the checkout itself."""

    files: tuple[str, ...] = ()
    definition: Place | None = None
    places: frozenset[Place] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(slots=True)
class Transcript:
    """The calls of a policy: the bytes it wrote and the bytes it had to read."""

    calls: list[tuple[str, str]] = field(default_factory=list)

    def add(self, arguments: str, answer: str) -> str:
        """Record a call and return its answer."""
        self.calls.append((arguments, answer))
        return answer

    @property
    def size(self) -> int:
        """Bytes of arguments and answers."""
        return sum(len(arguments.encode()) + len(answer.encode()) for arguments, answer in self.calls)

    @property
    def read(self) -> str:
        """Everything that was answered."""
        return "\n".join(answer for _, answer in self.calls)
