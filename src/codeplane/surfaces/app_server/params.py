"""What requests may ask for: what is taken, what is refused, and what does not hold here."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, is_text

# To go on without these would not be what the client asked for.
_REFUSED: Mapping[str, str] = {
    "baseInstructions": "write AGENTS.md into the repository, which every turn is shown",
    "developerInstructions": "write AGENTS.md into the repository, which every turn is shown",
    "config": "the owner's settings hold: cpl doctor",
    "ephemeral": "every thread is kept; thread/archive puts it away",
    "outputSchema": "ask for the form in the message",
    "toolOutput": "send it as a message",
    "history": "resume a thread by threadId",
    "path": "name a thread by threadId",
}
_TAKEN_INPUTS = ("text", "mention", "skill")
_MAX_SHOWN = 100
# What holds on every thread, whatever a client asks for; its rules and its sandbox are the owner's.
APPROVAL_POLICY, REVIEWER, SANDBOX = "on-request", "user", "workspace-write"
# The one policy that asks more than the owner's rules do, and the mode of a thread that it is.
STRICT_POLICY, STRICT_MODE = "untrusted", "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """The message of a turn."""

    text: str
    skills: tuple[str, ...]


def text_param(params: JsonObject, name: str) -> str:
    """Return a parameter that has to be there; InvalidArgument when it is no text."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"`{name}` has to be a text")
    return value


def optional_text(params: JsonObject, name: str) -> str:
    """Return a parameter, or an empty text when it is not there."""
    return text_param(params, name) if params.get(name) not in (None, "") else ""


def approval_policy(mode: str) -> str:
    """Return the approval policy that a thread's mode comes to."""
    return STRICT_POLICY if mode == STRICT_MODE else APPROVAL_POLICY


def wanted_mode(params: JsonObject) -> str:
    """Return the mode that a client asks for; it can only have more asked about, never less."""
    return STRICT_MODE if params.get("approvalPolicy") == STRICT_POLICY else ""


def check_params(params: JsonObject, root: Path) -> list[str]:
    """Refuse what cannot be done here, and return what is asked for but does not hold, as warnings."""
    for name, hint in _REFUSED.items():
        if params.get(name) not in (None, False, "", {}, []):
            raise InvalidArgument(f"`{name}` is not taken here", hint=hint)
    _check_folder(params.get("cwd"), root)
    sandbox = params.get("sandbox") or _policy_mode(params.get("sandboxPolicy"))
    if sandbox == "read-only":
        raise InvalidArgument(
            "a thread that cannot write is not offered here",
            hint="the owner can have every change asked about: trust.mode: always",
        )
    asked = {"approvalPolicy": params.get("approvalPolicy"), "sandbox": sandbox}
    holds = {"approvalPolicy": APPROVAL_POLICY, "sandbox": SANDBOX}
    warnings = [
        f"{name} {str(value)[:_MAX_SHOWN]!r} does not hold here: it stays {holds[name]!r}, by the owner's rules"
        for name, value in asked.items()
        if value not in (None, holds[name], STRICT_POLICY)
    ]
    return [
        *warnings,
        *([f"effort {str(params['effort'])[:_MAX_SHOWN]!r} is not used"] if params.get("effort") else []),
    ]


def turn_input(params: JsonObject) -> TurnInput:
    """Return the message in a request; InvalidArgument for images, sounds and what is empty."""
    given = params.get("input")
    if not isinstance(given, list):
        raise InvalidArgument("`input` has to be a list of items")
    texts: list[str] = []
    skills: list[str] = []
    for item in given:
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(item, dict) or kind not in _TAKEN_INPUTS:
            raise InvalidArgument(
                f"input of the type {str(kind)[:_MAX_SHOWN]!r} is not taken", hint=f"send {', '.join(_TAKEN_INPUTS)}"
            )
        if kind == "text":
            texts.append(str(item.get("text") or ""))
        elif kind == "skill":
            skills.append(text_param(item, "name"))
        else:
            texts.append(f"[{text_param(item, 'name')}]({text_param(item, 'path')})")
    text = "\n".join(texts)
    if not text.strip():
        raise InvalidArgument("`input` has no text")
    return TurnInput(text=text, skills=tuple(skills))


def reasoning_visibility(params: JsonObject) -> str:
    """Return how much of a model's reasoning is shown."""
    return "REASONING_OFF" if params.get("summary") == "none" else "REASONING_SUMMARY"


def choose_model(asked: str, names: Sequence[str]) -> str:
    """Return the name of a model as threads have it; InvalidArgument when there is none of that name."""
    if asked in names:
        return asked
    found = [name for name in names if name.partition("/")[2] == asked]
    if len(found) == 1:
        return found[0]
    raise InvalidArgument(
        f"there is no model {asked[:_MAX_SHOWN]!r}" if not found else f"several providers have {asked[:_MAX_SHOWN]!r}",
        hint=f"there are {', '.join(names) or 'none: turns are answered from the index, so name no model'}",
    )


def _check_folder(cwd: JsonValue, root: Path) -> None:
    if cwd is None:
        return
    folder = Path(str(cwd))
    is_path = folder.is_absolute() and is_text(str(cwd)) and "\0" not in str(cwd)
    if not is_path or not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root)):
        raise InvalidArgument(
            f"cwd {str(cwd)[:_MAX_SHOWN]!r} is not in the repository of this server, {root}",
            hint="start cpl app-server in the repository that is meant, or leave cwd out",
        )


def _policy_mode(policy: JsonValue) -> str | None:
    """Return the mode of a sandbox policy, in the words of threads."""
    kind = policy.get("type") if isinstance(policy, dict) else None
    return {"readOnly": "read-only", "workspaceWrite": SANDBOX, "dangerFullAccess": "danger-full-access"}.get(str(kind))
