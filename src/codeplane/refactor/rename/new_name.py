"""Whether a name can be given: its syntax, the words a language keeps, and what a private name means."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from codeplane.code.facts.language import Language
from codeplane.kernel.errors import InvalidArgument
from codeplane.refactor.draft import Danger

_SIGILS = re.compile(r"^[#@$]*")
_MAX_NAME = 200
# Families whose syntax allows any word after a member operator.
_ANY_MEMBER = frozenset({"javascript"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a language that are taken: `hard` ones are no names, `shadowed` ones are there without an import."""

    hard: frozenset[str]
    soft: frozenset[str]
    shadowed: frozenset[str]


@cache
def _tables() -> Mapping[str, Words]:
    raw = tomllib.loads(files("codeplane.refactor.rename").joinpath("words.toml").read_text("utf-8"))
    return {
        name: Words(**{kind: frozenset(str(table.get(kind, "")).split()) for kind in ("hard", "soft", "shadowed")})
        for name, table in raw.items()
    }


def words_of(language: Language) -> Words | None:
    """The words of a language, or None where its names are not renamed."""
    return _tables().get(language.name) or _tables().get(language.family or "")


def checked_name(language: Language, old: str, new: str, *, member: bool) -> list[Danger]:
    """Refuse what cannot be a name in place of another; what can, but has consequences, is said."""
    words = words_of(language)
    assert words is not None
    if new == old:
        raise InvalidArgument(f"it is called {old!r} already", hint="give another new_name")
    sigils = _sigils(language, old)
    if _sigils(language, new) != sigils:
        raise InvalidArgument(f"{new!r} does not begin as {old!r} does", hint=f"try {sigils + new.lstrip('#@$')!r}")
    if unicodedata.normalize("NFKC", new) != new:
        raise InvalidArgument(
            f"{new!r} is read as {unicodedata.normalize('NFKC', new)!r}", hint="give the name as it is read"
        )
    if len(new) > _MAX_NAME or not _is_identifier(language, new):
        raise InvalidArgument(f"{new!r} is not a name in {language.name}", hint="use letters, digits and underscores")
    if new in words.hard and not (member and language.family in _ANY_MEMBER):
        raise InvalidArgument(f"{new!r} is a reserved word of {language.name}", hint=f"try {new}_")
    dangers = []
    if new in words.soft and not member:
        dangers.append(Danger(kind="soft_keyword", what=f"{new!r} has a meaning of its own in {language.name}"))
    if new in words.shadowed and not member:
        dangers.append(Danger(kind="shadows_builtin", what=f"{new!r} hides what {language.name} calls so itself"))
    return dangers


def is_dunder(name: str) -> bool:
    """Whether Python itself looks a member up by this name."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def is_mangled(name: str) -> bool:
    """Whether Python makes a name in a class that class's own."""
    return name.startswith("__") and not name.endswith("__")


def _sigils(language: Language, name: str) -> str:
    match = _SIGILS.match(name)
    found = match[0] if match else ""
    return found.replace("$", "") if language.family == "javascript" else found


def _is_identifier(language: Language, name: str) -> bool:
    if language.name == "python":
        return name.isidentifier()
    return re.fullmatch(language.identifier, name) is not None
