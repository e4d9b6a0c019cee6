"""What a runner complains of in its output, where its report says nothing."""

import re
from collections.abc import Iterable, Sequence

from codeplane.testing.target import Wanted

_RAISED = re.compile(
    r"(?m)^(?:E  )?\s*(?P<kind>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)|Error)(?: \[\w+\])?: (?P<message>\S.*)$"
)
_SAID = re.compile(r"(?m)^(?:ERROR: (?!usage:|not found:|found no )|[^:\n]+: error: )(?P<message>\S.*)$")
_EXPRESSION = re.compile(r"(?m)^ERROR: (?P<message>Wrong expression passed to '-[km]': .*)$")
_MISSING = re.compile(r"(?m)^ERROR: not found: (?P<place>.+?)::(?P<name>.+)$")
_UNLOADED = re.compile(r"(?m)^ERROR: found no collectors for ")
_CONFTEST = re.compile(r"(?m)^(?:\w+Error while loading conftest|ConftestImportFailure:.*) '(?P<file>[^'\n]+)'")
_CUT_SHORT = re.compile(r"!!! (?:stopping after|Interrupted|_pytest\.outcomes\.Exit|xdist\.dsession\.Interrupted)")

USAGE = "UsageError"


def reason(said: str) -> tuple[str, str] | None:
    """The kind and the words of the last error that was printed; None when none was."""
    raised = list(_RAISED.finditer(said))
    if raised:
        return raised[-1]["kind"].rpartition(".")[2], raised[-1]["message"].strip()
    usage = list(_SAID.finditer(said))
    return (USAGE, usage[-1]["message"].strip()) if usage else None


def unknown(said: str, wanted: Iterable[Wanted]) -> dict[str, set[str]]:
    """The names of each target that pytest does not know; it runs nothing at all for one of them."""
    told = [(match["place"], match["name"].strip()) for match in _MISSING.finditer(said)]
    found: dict[str, set[str]] = {}
    for one in wanted:
        for place, name in told:
            is_its = place == one.target.path or place.endswith(f"/{one.target.path}")
            if name in one.names and (is_its or place.endswith(f"/{one.target.inner}")):
                found.setdefault(one.target_id, set()).add(name)
    return found


def wrong_expression(said: str) -> str:
    """What is wrong with the pattern or tags, where they are no expression that pytest understands."""
    found = _EXPRESSION.search(said)
    return found["message"] if found is not None else ""


def to_blame(said: str, wanted: Sequence[Wanted], root: str) -> list[Wanted]:
    """The targets that pytest could not even begin with: those below a conftest that does not load, or all of them."""
    conftest = _CONFTEST.search(said)
    if conftest is not None:
        folder = conftest["file"].removeprefix(f"{root}/").rpartition("/")[0]
        return [one for one in wanted if not folder or one.target.path.startswith(f"{folder}/")]
    return [] if _UNLOADED.search(said) or not _SAID.search(said) else list(wanted)


def is_cut_short(said: str) -> bool:
    """Whether it ended before all that was asked for was run."""
    return _CUT_SHORT.search(said) is not None
