"""Warns about policies that compile but name input fields or values that no call ever has."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, get_args

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import Capability, ToolIdentity
from codeplane.kernel.declared_operation import FAMILY
from codeplane.kernel.operation import Kind, Risk
from codeplane.trust.policy.rego_source import COMMENT_OR_STRING, CUT

_ANY = "*"
_LISTS = ("effects", "paths", "remotes", "remote_names", "kinds", "resources")
_GRANT = ("context", "grant")
_ORIGIN = ("context", "origin")
_MODES = ("automatic", "trust", "always")
# The fields at each place of the input; a place that is not listed may have any.
FIELDS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    (): ("actor", "operation", "risk", "identity", *_LISTS, "arguments", "context", CUT),
    ("actor",): ("kind", "id", "owner"),
    ("operation",): ("name", "family", "capability", "mutates"),
    ("context",): (
        *("mode", "allow", "surface", "client", "session_id", "task_id", "workspace", "untrusted", "grant", "origin"),
    ),
    _GRANT: ("approval_mode",),
    _ORIGIN: (
        "work_id",
        "thread_id",
        "turn_id",
        "job_id",
        "step",
        "on_behalf_of",
        "namespace",
        "node",
        "is_unattended",
        "tree_id",
    ),
    (*_ORIGIN, "on_behalf_of"): ("kind", "id", "owner"),
}
# Strings are masked before these patterns are applied.
_TEXT = r'(?:"x*"|`x*`)'
_REFERENCE = re.compile(rf"(?<![\w.])input\b((?:[ \t]*\.[ \t]*[A-Za-z_]\w*|\[[ \t]*(?:{_TEXT}|\w+)[ \t]*\])*)")
_PART = re.compile(rf"\.[ \t]*(\w+)|\[[ \t]*({_TEXT})[ \t]*\]|(\[[ \t]*\w+[ \t]*\])")
_COMPARED_AFTER = re.compile(rf"\s*[=!]?=\s*({_TEXT})")
_ONE_OF = re.compile(rf"\s+in\s*[\[{{](\s*(?:{_TEXT}\s*,?\s*)+)[\]}}]")
_COMPARED_BEFORE = re.compile(rf"({_TEXT})\s*[=!]?=\s*$")
_AMONG = re.compile(rf"({_TEXT})\s+in\s+$")
_TEXTS = re.compile(_TEXT)
_MAX_LISTED = 8
_MAX_SHOWN = 80
_MAX_WARNINGS = 20


class LintWarning(NamedTuple):
    """A place in a policy that cannot be intended."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputVocabulary:
    """The values that places of the input can have, where all are known."""

    values: Mapping[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, catalogue: Catalogue | None = None) -> "InputVocabulary":
        """The vocabulary, with the names of operations where the catalogue is given."""
        values: dict[tuple[str, ...], tuple[str, ...]] = {
            ("actor", "kind"): tuple(ActorKind),
            ("risk",): tuple(Risk.__members__),
            ("identity",): tuple(f"IDENTITY_{word.upper()}" for word in get_args(ToolIdentity)),
            ("kinds", _ANY): get_args(Kind),
            ("context", "mode"): _MODES,
            (*_GRANT, "approval_mode"): _MODES,
            (*_ORIGIN, "on_behalf_of", "kind"): tuple(ActorKind),
            (CUT, _ANY): FIELDS[()],
            ("operation", "capability"): ("", *get_args(Capability)),
        }
        if catalogue is not None:
            names = (*(operation.name for operation in catalogue), *catalogue.disabled)
            values["operation", "name"] = names
            values["operation", "family"] = ("", *dict.fromkeys((*catalogue.families(), FAMILY)))
        return cls(values=values)

    def lint(self, texts: Mapping[str, str]) -> tuple[LintWarning, ...]:
        """Warn about fields that the input never has and values that a field never has, up to a limit."""
        warnings = dict.fromkeys(
            LintWarning(file, text[:start].count("\n") + 1, message)
            for file, text in texts.items()
            for start, message in self._messages(text)
        )
        return tuple(warnings)[:_MAX_WARNINGS]

    def _messages(self, text: str) -> Iterator[tuple[int, str]]:
        plain = COMMENT_OR_STRING.sub(_mask, text)
        for reference in _REFERENCE.finditer(plain):
            path = tuple(_parts(reference, text))
            if (message := _unknown_field(path)) is not None:
                yield reference.start(), message
                continue
            for start, value in _compared_constants(plain, text, reference, path):
                place = path if start >= 0 else (*path, _ANY)
                known = self.values.get(place)
                if known is not None and value not in known:
                    yield reference.start(), _impossible_value(place, value, known)


def _unknown_field(path: tuple[str, ...]) -> str | None:
    """The message for an unknown field on a path, or None."""
    for depth, name in enumerate(path):
        known = FIELDS.get(path[:depth])
        if known is None:
            return None
        if name not in known and name != _ANY:
            at = ".".join(("input", *path[:depth]))
            return f"no call has {at}.{name[:_MAX_SHOWN]}; {at} has {_nearest_name(name, known)}"
    return None


def _compared_constants(
    plain: str, text: str, reference: re.Match[str], path: tuple[str, ...]
) -> Iterator[tuple[int, str]]:
    """The constants that a place is compared with; -1 when they are looked for among its items."""
    before, after = plain[max(0, reference.start() - 300) : reference.start()], reference.end()
    offset = reference.start() - len(before)
    if (match := _COMPARED_AFTER.match(plain, after)) is not None:
        yield 0, text[match.start(1) + 1 : match.end(1) - 1]
    elif (match := _ONE_OF.match(plain, after)) is not None:
        for constant in _TEXTS.finditer(plain, match.start(1), match.end(1)):
            yield 0, text[constant.start() + 1 : constant.end() - 1]
    if (match := _COMPARED_BEFORE.search(before)) is not None:
        yield 0, text[offset + match.start(1) + 1 : offset + match.end(1) - 1]
    elif (match := _AMONG.search(before)) is not None and path:
        yield -1, text[offset + match.start(1) + 1 : offset + match.end(1) - 1]


def _impossible_value(place: tuple[str, ...], value: str, known: tuple[str, ...]) -> str:
    at = ".".join(("input", *place)).removesuffix(f".{_ANY}")
    statement = (
        f'{at} never holds "{value[:_MAX_SHOWN]}"' if place[-1] == _ANY else f'{at} is never "{value[:_MAX_SHOWN]}"'
    )
    return f"{statement}; {'there is' if place[-1] == _ANY else 'it can be'} {_nearest_name(value, known)}"


def _nearest_name(given: str, known: Iterable[str]) -> str:
    """The name that was probably meant, else the known names."""
    folded = {name.casefold().replace("_", "."): name for name in known if name}
    matches = get_close_matches(given.casefold().replace("_", "."), folded, n=1, cutoff=0.6)
    if matches:
        return folded[matches[0]]
    names = list(folded.values())
    return ", ".join(names[:_MAX_LISTED]) + (" …" if len(names) > _MAX_LISTED else "")


def _parts(reference: re.Match[str], text: str) -> Iterator[str]:
    for part in _PART.finditer(reference.string, reference.start(1), reference.end(1)):
        if part[1]:
            yield part[1]
        elif part[2]:
            yield text[part.start(2) + 1 : part.end(2) - 1]
        else:
            yield _ANY


def _mask(match: re.Match[str]) -> str:
    """Mask a comment or string, keeping its length so that offsets stay true."""
    text = match[0]
    if text.startswith("#"):
        return " " * len(text)
    return text[0] + "x" * (len(text) - 2) + text[-1] if len(text) > 1 else text
