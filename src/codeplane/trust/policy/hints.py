"""Hints for denied calls: the policy file that denies, and the command that explains it."""

import shlex
from collections.abc import Mapping, Sequence

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.json import JsonObject, JsonValue, dumps

# Longer arguments are left out of the command.
_MAX_ARGUMENTS = 400


def denial_hint(yours: Mapping[str, str], denied: Sequence[str], document: JsonObject) -> str:
    """The hint of a denial: the owner's file with the rule, where that is known, and the explaining command."""
    explanation = f"see which rules spoke: {explain_command(document)}"
    if not denied:
        return explanation
    where = " or ".join(_files_with_reasons(yours, denied)) or ".codeplane/policy"
    return f"a rule of the owner's own says so, in {where}, and no setting lifts it; {explanation}"


def explain_command(document: JsonObject) -> str:
    """The command that explains how such a call is decided."""
    operation = document.get("operation")
    name = operation.get("name") if isinstance(operation, dict) else None
    return _command(str(name or "OPERATION"))


def with_arguments(hint: str, name: str, actor: Actor, arguments: JsonObject) -> str:
    """The hint with the arguments of this very call in its command; decisions are cached without them."""
    words = [_argument(key, value) for key, value in arguments.items()]
    words += [f"--actor {actor.kind.value}"] if actor.kind in (ActorKind.OWNER, ActorKind.DEVICE) else []
    command = _command(name)
    if sum(map(len, words)) > _MAX_ARGUMENTS:
        return hint
    return hint.replace(command, " ".join([command, *words]))


def _command(name: str) -> str:
    return f"cpl policy explain {name}"


def _argument(key: str, value: JsonValue) -> str:
    return shlex.quote(f"{key}={value}" if isinstance(value, str) else f"{key}:={dumps(value)}")


def _files_with_reasons(yours: Mapping[str, str], denied: Sequence[str]) -> list[str]:
    """The files that contain the reasons literally; none when a reason was composed of parts."""
    if len(yours) == 1:
        return list(yours)
    files: list[str] = []
    for reason in denied:
        matching = [file for file, text in yours.items() if f'"{reason}"' in text or f"`{reason}`" in text]
        if not matching:
            return []
        files += matching
    return list(dict.fromkeys(files))
