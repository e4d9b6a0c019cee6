"""C#'s operators, which are no definitions of their own: they are looked for in the text of their class."""

import re

from codeplane.query.compare.outline import Outline
from codeplane.query.compare.verdict import Verdict

_OPERATOR = re.compile(rb"\boperator\s*([^\s(]+)\s*\(([^)]*)\)")


def judge_operators(found: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Note operators that are gone."""
    before, after = (set(_OPERATOR.findall(side)) for side in (old.raw(old_place), new.raw(new_place)))
    gone = sorted({sign.decode("utf-8", "replace") for sign, _ in before - after})
    if gone:
        found.say(f"operator {', '.join(gone)} is gone", breaks=True)
