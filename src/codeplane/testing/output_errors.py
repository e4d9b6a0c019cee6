"""Errors in a runner's output, for runs whose report says nothing about them."""

import re
from collections.abc import Iterable, Sequence

from codeplane.testing.target import TargetSelection

_RAISED = re.compile(
    r"(?m)^(?:E  )?\s*(?P<kind>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)|Error)(?: \[\w+\])?: (?P<message>\S.*)$"
)
_USAGE_ERROR = re.compile(r"(?m)^(?:ERROR: (?!usage:|not found:|found no )|[^:\n]+: error: )(?P<message>\S.*)$")
_EXPRESSION = re.compile(r"(?m)^ERROR: (?P<message>Wrong expression passed to '-[km]': .*)$")
_MISSING = re.compile(r"(?m)^ERROR: not found: (?P<place>.+?)::(?P<name>.+)$")
_UNLOADED = re.compile(r"(?m)^ERROR: found no collectors for ")
_CONFTEST = re.compile(r"(?m)^(?:\w+Error while loading conftest|ConftestImportFailure:.*) '(?P<file>[^'\n]+)'")
_CUT_SHORT = re.compile(r"!!! (?:stopping after|Interrupted|_pytest\.outcomes\.Exit|xdist\.dsession\.Interrupted)")

USAGE = "UsageError"


def last_error(output: str) -> tuple[str, str] | None:
    """Return the kind and message of the last error that was printed; None when there is none."""
    raised = list(_RAISED.finditer(output))
    if raised:
        return raised[-1]["kind"].rpartition(".")[2], raised[-1]["message"].strip()
    usage = list(_USAGE_ERROR.finditer(output))
    return (USAGE, usage[-1]["message"].strip()) if usage else None


def unknown_tests(output: str, wanted: Iterable[TargetSelection]) -> dict[str, set[str]]:
    """Return the names by target that pytest does not know; a single one makes it run nothing at all."""
    missing = [(match["place"], match["name"].strip()) for match in _MISSING.finditer(output)]
    found: dict[str, set[str]] = {}
    for selection in wanted:
        for place, name in missing:
            is_its = place == selection.target.path or place.endswith(f"/{selection.target.path}")
            if name in selection.names and (is_its or place.endswith(f"/{selection.target.path_in_root}")):
                found.setdefault(selection.target_id, set()).add(name)
    return found


def wrong_expression(output: str) -> str:
    """Return what is wrong with a pattern or tags that pytest does not understand."""
    match = _EXPRESSION.search(output)
    return match["message"] if match is not None else ""


def blamed_targets(output: str, wanted: Sequence[TargetSelection], root: str) -> list[TargetSelection]:
    """Return the targets that keep pytest from starting: those below a conftest that does not load, or all of them."""
    conftest = _CONFTEST.search(output)
    if conftest is not None:
        folder = conftest["file"].removeprefix(f"{root}/").rpartition("/")[0]
        return [selection for selection in wanted if not folder or selection.target.path.startswith(f"{folder}/")]
    return [] if _UNLOADED.search(output) or not _USAGE_ERROR.search(output) else list(wanted)


def is_interrupted(output: str) -> bool:
    """Whether pytest ended before it ran everything."""
    return _CUT_SHORT.search(output) is not None
