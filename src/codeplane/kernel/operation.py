"""Declares operations: each is defined once, with types, and projected to every surface."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from codeplane.kernel.config import ToolIdentity
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical, dumps


class Risk(StrEnum):
    """The possible effects of a call, mildest first."""

    READ = "low"
    WRITE = "medium"
    EXFILTRATION = "high"
    HIGH = "high_shell"
    DESTRUCTIVE = "destructive"

    @property
    def plain(self) -> str:
        """The risk in a word or two for people."""
        return _PLAIN[self.name]


_PLAIN = {
    "READ": "reads",
    "WRITE": "writes",
    "EXFILTRATION": "reaches out",
    "HIGH": "shell",
    "DESTRUCTIVE": "destroys",
}


class Budget(StrEnum):
    """Which of a task's limits a call counts against."""

    NONE = "none"
    MUTATION = "mutation"
    TEST_RUN = "test_run"


class Request(BaseModel):
    """The arguments of an operation; unknown fields are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    # Fields that only inform the person who decides and change nothing of what is done.
    prose: ClassVar[frozenset[str]] = frozenset()
    # What a field is called in operations beside this one, by that name.
    synonyms: ClassVar[Mapping[str, str]] = {}
    # Whether the log and traces may hold the arguments; else they hold their hash and size.
    recorded: ClassVar[bool] = True

    @classmethod
    def owns(cls, name: str) -> bool:
        """Whether an argument of that name, such as session_id, means something of its own."""
        return False

    @classmethod
    def describe_arguments(cls) -> str | None:
        """The arguments in one line, where they are not its fields; such arguments are not forgiven anything."""
        return None

    def is_assessed_at_once(self) -> bool:
        """Whether to assess it takes no longer than handing that to a thread would."""
        return False

    def fingerprint(self) -> tuple[str, int]:
        """The hash and the size of a request that its caller made itself."""
        encoded = canonical(self.model_dump(mode="json", exclude_unset=True))
        return digest(encoded), len(encoded)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        # Not announced: a client that checked for it would refuse what we forgive, such as `path` for `paths`.
        announced = handler.resolve_ref_schema(handler(schema))
        announced.pop("additionalProperties", None)
        return announced


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """The calls that say how work goes on after the answer that tells of it, and that end it."""

    show: str
    cancel: str
    arguments: JsonObject = field(hash=False)


# Two answers that differ in nothing else are the same.
_MOMENTARY = {"epoch", "commit", "stale", "verified_sec_ago", "query_time_ms", "pagination"}


class Result(BaseModel):
    """An operation's answer; `text` is what an agent reads."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    # What holds a secret is given once, and kept nowhere.
    secret: ClassVar[bool] = False

    def text(self) -> str:
        """The answer in as few words as possible."""
        return dumps(self.model_dump(mode="json", exclude_none=True))

    def unmet(self) -> str | None:
        """Why an answered call did not achieve what was asked: red tests, conflicts."""
        return None

    def untrusted_source(self) -> tuple[str, str] | None:
        """The source of content that others wrote (kind, name); None when there is none."""
        return None

    def follow_up(self) -> FollowUp | None:
        """The work that goes on after this answer; None when there is none or it has ended."""
        return None

    def stable_bytes(self) -> bytes | None:
        """The answer without what tells of the moment it was given; None when it says nothing of that."""
        momentary = _MOMENTARY & type(self).model_fields.keys()
        return self.model_dump_json(exclude=momentary).encode() if momentary else None


# Kinds of effects that rules test for: a push that replaces what others have; a branch, tag,
# stash, work tree or submodule that is removed; commits that are lost or replaced; work in files that is lost.
Kind: TypeAlias = Literal["force", "delete", "history", "work"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The actual effects of one call, judged from its arguments."""

    risk: Risk
    effects: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    remote_names: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    # What it is about beside files, each by its stream or URN, as in work/work_….
    resources: tuple[str, ...] = ()
    # Whether `paths` are all that it writes.
    whole: bool = False
    # What a remembered answer covers, in words that stay the same from one such call to the next; else the effects.
    trusted_as: tuple[str, ...] = ()

    @property
    def outward(self) -> bool:
        """Whether the call reaches other machines, or can."""
        return self.risk is Risk.EXFILTRATION or (self.risk is not Risk.READ and bool(self.remotes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The preview that a person decides on; the handler is held to `pins` after approval."""

    summary: str
    body: str = ""
    pins: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationMark:
    """The metadata `@operation` leaves on a method."""

    name: str
    risk: Risk
    budget: Budget
    capability: str
    toolset: str
    timeout_sec: float
    deprecated: str | None
    # For people alone, whatever others hold or are granted.
    people: bool = False
    # Whether a call with a key does the same once however often it runs, so that one that was cut off may run again.
    repeatable: bool = False
    # Whose account it acts with outside; None where that follows from who calls.
    identity: ToolIdentity | None = None
    # The only thread whose turns may use it; None where that does not matter.
    thread_id: str | None = None

    # What the decorators set on methods.
    MARK: ClassVar[str] = "__codeplane_operation__"
    ASSESSES: ClassVar[str] = "__codeplane_assesses__"
    PREVIEWS: ClassVar[str] = "__codeplane_previews__"
    FORESEES: ClassVar[str] = "__codeplane_foresees__"


F = TypeVar("F", bound=Callable[..., object])


def operation(
    name: str,
    *,
    risk: Risk,
    budget: Budget = Budget.NONE,
    capability: str = "read_files",
    toolset: str = "all",
    timeout_sec: float = 60.0,
    deprecated: str | None = None,
    people: bool = False,
    repeatable: bool = False,
) -> Callable[[F], F]:
    """Mark a method as an operation; its type hints are the schema, an async generator is a stream."""
    mark = OperationMark(
        name=name,
        risk=risk,
        budget=budget,
        capability=capability,
        toolset=toolset,
        timeout_sec=timeout_sec,
        deprecated=deprecated,
        people=people,
        repeatable=repeatable,
    )
    return _attach(OperationMark.MARK, mark)


def assesses(name: str) -> Callable[[F], F]:
    """Mark the method that judges the named operation before it is authorised: the request, or the call and it."""
    return _attach(OperationMark.ASSESSES, name)


def foresees(name: str) -> Callable[[F], F]:
    """Mark the method that tells which files the named operation will come upon: rules about them speak first."""
    return _attach(OperationMark.FORESEES, name)


def previews(name: str) -> Callable[[F], F]:
    """Mark the method that renders what a person is shown before deciding: of the request, or of the call and it."""
    return _attach(OperationMark.PREVIEWS, name)


def _attach(attribute: str, value: object) -> Callable[[F], F]:
    def mark(function: F) -> F:
        setattr(function, attribute, value)
        return function

    return mark
