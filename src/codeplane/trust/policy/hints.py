"""What whoever was refused can do next: which file says so, and the command that shows why."""

import shlex
from collections.abc import Mapping, Sequence

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.json import JsonObject, JsonValue, dumps

# As much of a call as fits a line that is read; a longer one is explained without what it was given.
_MAX_GIVEN = 400


def next_step(yours: Mapping[str, str], denied: Sequence[str], document: JsonObject) -> str:
    """The hint of a denial: the owner's file that gave the reasons where that is known, and how to see it all."""
    explained = f"see which rules spoke: {explaining(document)}"
    if not denied:
        return explained
    where = " or ".join(_sayers(yours, denied)) or ".codeplane/policy"
    return f"a rule of the owner's own says so, in {where}, and no setting lifts it; {explained}"


def explaining(document: JsonObject) -> str:
    """The command that says what would become of such a call, as far as the rules were told of it."""
    operation = document.get("operation")
    name = operation.get("name") if isinstance(operation, dict) else None
    return _command(str(name or "OPERATION"))


def with_arguments(hint: str, name: str, actor: Actor, arguments: JsonObject) -> str:
    """The hint with the command for this very call, to be pasted as it is: a decision is kept for all alike."""
    given = [_argument(key, value) for key, value in arguments.items()]
    given += [f"--actor {actor.kind.value}"] if actor.kind in (ActorKind.OWNER, ActorKind.DEVICE) else []
    command = _command(name)
    if sum(map(len, given)) > _MAX_GIVEN:
        return hint
    return hint.replace(command, " ".join([command, *given]))


def _command(name: str) -> str:
    return f"cpl policy explain {name}"


def _argument(key: str, value: JsonValue) -> str:
    return shlex.quote(f"{key}={value}" if isinstance(value, str) else f"{key}:={dumps(value)}")


def _sayers(yours: Mapping[str, str], denied: Sequence[str]) -> list[str]:
    """The files that hold the reasons as they were given; with a reason put together of parts, nobody knows."""
    if len(yours) == 1:
        return list(yours)
    sayers: list[str] = []
    for reason in denied:
        holding = [file for file, text in yours.items() if f'"{reason}"' in text or f"`{reason}`" in text]
        if not holding:
            return []
        sayers += holding
    return list(dict.fromkeys(sayers))
