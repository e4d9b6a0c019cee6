"""What a planner found: every edit with how sure it is, what may go wrong, and what somebody has to decide."""

from dataclasses import dataclass, field
from typing import Literal

from codeplane.code.resolve.tier import Tier

Role = Literal["DEFINITION", "REFERENCE", "IMPORT", "EXPORT", "KEYWORD", "STRING", "COMMENT", "DOCUMENT"]
Confidence = Literal["high", "medium", "low"]
CapsuleType = Literal["scope_resolution", "receiver_resolution", "context_membership"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One stretch of a file and what takes its place; places are bytes of the file as the snapshot knows it.

    An insertion has `start == end`. `tier` decides whether it is applied; what is found in text alone is not
    `semantic`, and goes by `confidence`. `why` is the evidence in a few words.
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
    """Of an edit that is not sure: whether a use may stay behind when it is not made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMove:
    """A file that gets another name; edits of it are given under its old one."""

    path: str
    new_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file that is not there yet."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """What a plan cannot see or settle, and where: `kind` is one word (`dynamic_access`, `star_import`, …)."""

    kind: str
    what: str
    path: str | None = None
    offset: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A piece of evidence for whoever decides."""

    fact_type: str
    path: str
    offset: int
    provenance: str = "syntactic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """A small question that can be answered by reading the places it names."""

    type: CapsuleType
    question: str
    stop_rule: str
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One of several things that may be meant, with its whole plan."""

    id: str
    description: str
    confidence: float
    provenance: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was looked at: a plan is no better than that."""

    files_scanned: int = 0
    unparsed: tuple[str, ...] = ()
    """Files that hold the name and have syntax errors or no facts."""
    truncated: str = ""
    """What was not looked at, and why; empty when everything was."""
    families: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A planner's whole answer; with candidates somebody has to choose one of them, and `edits` is empty."""

    title: str
    name: str = ""
    """The dotted name, within its module, of what it is about, where it is about one symbol."""
    word: str = ""
    """What every use of that symbol says; of files, the uses say what they are called."""
    edits: tuple[Edit, ...] = ()
    moves: tuple[FileMove, ...] = ()
    creates: tuple[NewFile, ...] = ()
    removes: tuple[str, ...] = ()
    dangers: tuple[Danger, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    facts: tuple[Fact, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
