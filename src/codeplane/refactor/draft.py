"""The draft of a planner: every edit with its certainty, the dangers, and what somebody has to decide."""

from dataclasses import dataclass, field
from typing import Literal

from codeplane.code.resolve.tier import Tier

Role = Literal["DEFINITION", "REFERENCE", "IMPORT", "EXPORT", "KEYWORD", "STRING", "COMMENT", "DOCUMENT"]
Confidence = Literal["high", "medium", "low"]
CapsuleType = Literal["scope_resolution", "receiver_resolution", "context_membership"]
UNPARSED_USE = "unparsed_use"
UNSEARCHED = "unsearched"
# Kinds of dangers that may break a program though every edit is right: the plan must be seen before it is applied.
GRAVE = frozenset(
    {
        "computed_name",
        "import_cycle",
        "outside_base",
        "overriding_parameter",
        "registered",
        "shadows_stdlib",
        "side_effect",
        "structural_protocol",
        UNPARSED_USE,
        UNSEARCHED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A span of a file and its new text; offsets are bytes of the file in the snapshot.

    An insertion has `start == end`. `tier` decides whether it is applied; an edit that was found in text alone is not
    `semantic`, and `confidence` decides. `why` is the evidence in a few words.
    """

    path: str
    start: int
    end: int
    new: str
    tier: Tier
    role: Role
    semantic: bool = True
    confidence: Confidence | None = None
    why: str = ""
    likely: bool = True
    """Whether leaving out an uncertain edit may leave a use behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMove:
    """A file that gets a new path; its edits are listed under the old one."""

    path: str
    new_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file to create."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """Something a plan cannot see or decide, and where: `kind` is one word (`dynamic_access`, `star_import`, …)."""

    kind: str
    what: str
    path: str | None = None
    offset: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A piece of evidence for a decision."""

    fact_type: str
    path: str
    offset: int
    provenance: str = "syntactic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """A small question that reading a few places answers."""

    type: CapsuleType
    question: str
    stop_rule: str
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One of several possible meanings, with all its edits."""

    id: str
    description: str
    confidence: float
    provenance: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a planner searched."""

    files_scanned: int = 0
    unparsed: tuple[str, ...] = ()
    """Files that contain the name and have syntax errors or no facts."""
    truncated: str = ""
    """What was not searched, and why; empty if everything was."""
    families: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A planner's whole result; if it has candidates, one must be chosen and `edits` is empty."""

    title: str
    name: str = ""
    """The dotted name of the symbol within its module, if the draft is about one symbol."""
    word: str = ""
    """The word that every use of that symbol contains; empty for files, whose uses contain their names."""
    edits: tuple[Edit, ...] = ()
    moves: tuple[FileMove, ...] = ()
    creates: tuple[NewFile, ...] = ()
    removes: tuple[str, ...] = ()
    dangers: tuple[Danger, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    facts: tuple[Fact, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
