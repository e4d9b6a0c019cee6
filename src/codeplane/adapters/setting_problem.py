"""What is wrong with a setting, in words."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_core import ErrorDetails

from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonValue

_KINDS = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text (in quotes where YAML would read something else)",
    "tuple_type": "must be a list",
    "model_type": "must be a section of `key: value` lines",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}
# Settings of earlier versions, and what holds without them.
REMOVED = {
    "approvals.elicit_risky": "was removed; shell commands and what destroys are never asked about in clients, so "
    "leave it out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingProblem:
    """One thing that is wrong, and where."""

    place: str
    key: str
    text: str

    def __str__(self) -> str:
        # Keys are shown as they were written, and may hold what would move a terminal's cursor.
        key = self.key[:100] if self.key.isprintable() else repr(self.key[:100])
        return f"{self.place}: {key}: {self.text}" if key else f"{self.place}: {self.text}"


def refusal(problems: Iterable[SettingProblem]) -> ConfigInvalid:
    """All problems as one error."""
    found = list(problems)
    listed: list[JsonValue] = [{"place": each.place, "key": each.key, "problem": each.text} for each in found]
    return ConfigInvalid("; ".join(str(each) for each in found), details={"problems": listed})


def in_words(item: ErrorDetails, item_keys: tuple[str, ...]) -> str:
    """What pydantic found, for somebody who does not know pydantic."""
    kind, given, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(item["loc"][-1]), item_keys, n=1)
        return unknown(near[0] if near else None, item_keys)
    if given is None:
        return "has no value; leave it out to have the default"
    if kind == "literal_error":
        # Levels are listed in both cases; one of them is enough to read.
        names = {name.lower(): name for name in reversed(re.findall(r"'([^']*)'", str(context["expected"])))}
        return f"must be one of {', '.join(reversed(names.values()))}, not {shown(given)}"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"must be {words} {context[bound]:g}, not {shown(given)}"
    if kind in _KINDS:
        return f"{_KINDS[kind]}, not {shown(given)}"
    return f"{item['msg']}, not {shown(given)}"


def unknown(near: str | None, known: Iterable[str]) -> str:
    """That there is no such key, and which was meant."""
    return f"unknown key; did you mean {near!r}?" if near else f"unknown key; there are: {', '.join(sorted(known))}"


def shown(value: object) -> str:
    """A value as its writer would recognise it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value[:60]!r}"
        case dict():
            return "a section"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)[:60]
