"""What whoever was refused can do next: which file says so, and the command that shows why."""

from collections.abc import Mapping, Sequence

from codeplane.kernel.json import JsonObject


def next_step(yours: Mapping[str, str], denied: Sequence[str], document: JsonObject) -> str:
    """The hint of a denial: the owner's file that gave the reasons where that is known, and how to see it all."""
    operation = document.get("operation")
    name = operation.get("name") if isinstance(operation, dict) else None
    explained = f"see which rules spoke: cpl policy explain {name or 'OPERATION'} …"
    if not denied:
        return explained
    where = " or ".join(_sayers(yours, denied)) or ".codeplane/policy"
    return f"a rule of the owner's own says so, in {where}, and no setting lifts it; {explained}"


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
