"""Values that became definitions, and definitions that became values, where the language tells them by use alone."""

import re

from codeplane.query.compare.mark_changes import call_style
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.parameter_changes import judge_calls
from codeplane.query.compare.rules import CALLABLES, VALUES
from codeplane.query.compare.verdict import Verdict

_LITERALS = frozenset({"True", "False", "None", "not"})
_CALLABLE = re.compile(r"\b(?:Callable|Any)\b")
_MOST_ALIASES = 5


def judge_value(verdict: Verdict, pair: Pair) -> bool:
    """Judge a class or callable of Python that became a value, or the other way; return whether it is one of these."""
    assert pair.old is not None and pair.new is not None and pair.before is not None
    before, after = pair.before.kind, pair.now.kind
    message = f"a {before} before, a {after} now"
    if before in VALUES and (after in CALLABLES or after == "class"):
        value = _value(pair.old, pair.old_place)
        if not value and _CALLABLE.search(pair.old.parts(pair.old_place).header.returns):
            verdict.add(message, breaks=False, tag="kind_changed")
            return True
        if not _can_be_called(value) or (_is_property(value) != _reads_as_property(pair.new, pair.new_place)):
            return False
        verdict.add(message, breaks=False, tag="kind_changed")
        return True
    if after not in VALUES or not (before in CALLABLES or before == "class"):
        return False
    value = _value(pair.new, pair.new_place)
    if not _can_be_called(value) or (_is_property(value) != _reads_as_property(pair.old, pair.old_place)):
        return False
    verdict.add(
        f"another name of {''.join(value)} now" if _is_name(value) else message, breaks=False, tag="kind_changed"
    )
    target = _named(pair.new, pair.new_place, value)
    if target is not None and before in CALLABLES and pair.new.entities[target].kind in CALLABLES:
        old, new = (
            side.parts(place).header.parameters or ()
            for side, place in ((pair.old, pair.old_place), (pair.new, target))
        )
        judge_calls(verdict, old, new, pair.new.rules)
    return True


def _value(outline: Outline, place: int) -> list[str]:
    """The tokens of what is assigned."""
    tokens = [token for token in outline.parts(place).body if token not in ("\x02", "\x03")]
    return tokens[1:] if tokens[:1] == ["="] else tokens


def _can_be_called(value: list[str]) -> bool:
    return bool(value) and value[0].isidentifier() and value[0] not in _LITERALS


def _is_name(value: list[str]) -> bool:
    return all(token == "." or token.isidentifier() for token in value)


def _is_property(value: list[str]) -> bool:
    called = "".join(value).partition("(")[0]
    return called.endswith("property")


def _reads_as_property(outline: Outline, place: int) -> bool:
    return outline.entities[place].kind in CALLABLES and call_style(outline.parts(place).header) == "property"


def _named(outline: Outline, place: int, value: list[str]) -> int | None:
    """The definition beside a value that it is another name of."""
    parent = outline.entities[place].parent
    for _ in range(_MOST_ALIASES):
        if len(value) != 1:
            return None
        found = [each for kind in (*CALLABLES, *VALUES) for each in outline.named.get((parent, kind, value[0]), ())]
        if len(found) != 1:
            return None
        if outline.entities[found[0]].kind not in VALUES:
            return found[0]
        value = _value(outline, found[0])
    return None
