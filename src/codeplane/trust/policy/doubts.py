"""What a policy looks for that no call ever has: it can be used, and a rule of it never speaks."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, get_args

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import Capability
from codeplane.kernel.operation import Kind, Risk
from codeplane.trust.policy.rego_text import CUT, QUIET

_ANY = "*"
_LISTS = ("effects", "paths", "remotes", "remote_names", "kinds", "resources")
_GRANT = ("context", "grant")
_MODES = ("automatic", "trust", "always")
# The names there are at a place of the input; below what is not here anything may be.
FIELDS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    (): ("actor", "operation", "risk", *_LISTS, "arguments", "context", CUT),
    ("actor",): ("kind", "id", "owner"),
    ("operation",): ("name", "family", "capability", "mutates"),
    ("context",): (
        *("mode", "allow", "surface", "client", "session_id", "task_id", "workspace", "untrusted", "grant"),
    ),
    _GRANT: ("approval_mode",),
}
# Strings are masked by then, so that nothing inside one ends anything.
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
_MAX_DOUBTS = 20


class Doubt(NamedTuple):
    """Something in a policy that cannot be meant, and where."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The values that places of the input can have, where they are all known."""

    values: Mapping[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, catalogue: Catalogue | None = None) -> "Vocabulary":
        """Those of everything, and of the operations where it is known which there are."""
        values: dict[tuple[str, ...], tuple[str, ...]] = {
            ("actor", "kind"): tuple(ActorKind),
            ("risk",): tuple(Risk.__members__),
            ("kinds", _ANY): get_args(Kind),
            ("context", "mode"): _MODES,
            (*_GRANT, "approval_mode"): _MODES,
            (CUT, _ANY): FIELDS[()],
            ("operation", "capability"): ("", *get_args(Capability)),
        }
        if catalogue is not None:
            names = (*(one.name for one in catalogue), *catalogue.disabled)
            values["operation", "name"] = names
            values["operation", "family"] = ("", *catalogue.families())
        return cls(values=values)

    def doubts(self, texts: Mapping[str, str]) -> tuple[Doubt, ...]:
        """Fields that the input never has, and comparisons that never come out otherwise; the first of them."""
        found = dict.fromkeys(
            Doubt(file, text[:start].count("\n") + 1, said)
            for file, text in texts.items()
            for start, said in self._said(text)
        )
        return tuple(found)[:_MAX_DOUBTS]

    def _said(self, text: str) -> Iterator[tuple[int, str]]:
        plain = QUIET.sub(_masked, text)
        for reference in _REFERENCE.finditer(plain):
            path = tuple(_parts(reference, text))
            if (wrong := _wrong(path)) is not None:
                yield reference.start(), wrong
                continue
            for start, value in _compared(plain, text, reference, path):
                place = path if start >= 0 else (*path, _ANY)
                known = self.values.get(place)
                if known is not None and value not in known:
                    yield reference.start(), _never(place, value, known)


def _wrong(path: tuple[str, ...]) -> str | None:
    """What is wrong with the names on the way, if something is."""
    for depth, name in enumerate(path):
        known = FIELDS.get(path[:depth])
        if known is None:
            return None
        if name not in known and name != _ANY:
            at = ".".join(("input", *path[:depth]))
            return f"no call has {at}.{name[:_MAX_SHOWN]}; {at} has {_nearest(name, known)}"
    return None


def _compared(plain: str, text: str, reference: re.Match[str], path: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The constants a place is compared with; below 0 where they are looked for among what it holds."""
    before, after = plain[max(0, reference.start() - 300) : reference.start()], reference.end()
    offset = reference.start() - len(before)
    if (found := _COMPARED_AFTER.match(plain, after)) is not None:
        yield 0, text[found.start(1) + 1 : found.end(1) - 1]
    elif (found := _ONE_OF.match(plain, after)) is not None:
        for one in _TEXTS.finditer(plain, found.start(1), found.end(1)):
            yield 0, text[one.start() + 1 : one.end() - 1]
    if (found := _COMPARED_BEFORE.search(before)) is not None:
        yield 0, text[offset + found.start(1) + 1 : offset + found.end(1) - 1]
    elif (found := _AMONG.search(before)) is not None and path:
        yield -1, text[offset + found.start(1) + 1 : offset + found.end(1) - 1]


def _never(place: tuple[str, ...], value: str, known: tuple[str, ...]) -> str:
    at = ".".join(("input", *place)).removesuffix(f".{_ANY}")
    said = f'{at} never holds "{value[:_MAX_SHOWN]}"' if place[-1] == _ANY else f'{at} is never "{value[:_MAX_SHOWN]}"'
    return f"{said}; {'there is' if place[-1] == _ANY else 'it can be'} {_nearest(value, known)}"


def _nearest(given: str, known: Iterable[str]) -> str:
    """The name that was probably meant, else the names there are."""
    folded = {one.casefold().replace("_", "."): one for one in known if one}
    near = get_close_matches(given.casefold().replace("_", "."), folded, n=1, cutoff=0.6)
    if near:
        return folded[near[0]]
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


def _masked(quiet: re.Match[str]) -> str:
    """As long as it was, so that every place stays where it is."""
    said = quiet[0]
    if said.startswith("#"):
        return " " * len(said)
    return said[0] + "x" * (len(said) - 2) + said[-1] if len(said) > 1 else said
