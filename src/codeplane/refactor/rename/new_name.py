"""Checks of a new name: its syntax, the reserved words of a language, and private names."""

import re
import unicodedata

from codeplane.code.languages.language import Language
from codeplane.kernel.errors import InvalidArgument
from codeplane.refactor.draft import Danger

_SIGILS = re.compile(r"^[#@$]*")
_MAX_NAME = 200


def check_name(language: Language, old: str, new: str, *, member: bool) -> list[Danger]:
    """Refuse a name that cannot replace the old one; return dangers of one that can."""
    words = language.reserved
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
    if new in words.hard and not (member and language.names.members_may_be_keywords):
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
    """Whether Python mangles a name in a class."""
    return name.startswith("__") and not name.endswith("__")


def _sigils(language: Language, name: str) -> str:
    match = _SIGILS.match(name)
    found = match[0] if match else ""
    return "".join(sign for sign in found if sign in language.names.sigils)


def _is_identifier(language: Language, name: str) -> bool:
    if language.names.is_identifier:
        return name.isidentifier()
    return re.fullmatch(language.identifier, name) is not None
