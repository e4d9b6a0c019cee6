"""What a client is shown of a thread, in no protocol's words yet."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject

Role = Literal["user", "assistant", "thought"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A part of a message; parts of the same message have the same id."""

    role: Role
    text: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """How a file was changed; the texts are those of the changed places."""

    path: str
    old_text: str | None
    new_text: str
    patch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the assistant is about to use."""

    tool_call_id: str
    name: str
    title: str
    kind: str
    arguments: JsonObject
    paths: tuple[tuple[str, int | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress:
    """How far a tool call is; what is None stays as it was."""

    tool_call_id: str
    status: ToolStatus | None = None
    # In place of what was shown before.
    text: str | None = None
    diffs: tuple[FileDiff, ...] = ()
    # The action that a person has to decide on.
    action_id: str | None = None
    # A piece of what a command printed, and where it is run.
    output: str | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps that the assistant wants to take, with their states."""

    plan_id: str
    entries: tuple[tuple[str, ToolStatus], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How many tokens of what a model can be shown are used."""

    tokens: int
    # How many there can be; None where the settings say it.
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """The title of the thread."""

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The model or the mode of the thread is another one."""

    model: str | None
    mode: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A turn has begun, or goes on."""

    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A turn waits, for a person to decide on an action or for something else."""

    turn_id: str
    action_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An action of a turn was decided on."""

    action_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A turn has ended; `failure` says why it failed."""

    turn_id: str
    stop_reason: StopReason
    failure: CodePlaneError | None = None


Update: TypeAlias = (
    Text | ToolCall | ToolProgress | Plan | Usage | Title | Settings | Running | Paused | Decided | Ended
)
