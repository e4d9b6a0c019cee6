"""Languages as callers name them: by their own name, by their family's, or by a short form."""

import difflib

from codeplane.code.languages.registry import LANGUAGES, languages
from codeplane.kernel.errors import InvalidArgument

_ALIASES = {alias: language.name for language in LANGUAGES.values() for alias in language.aliases}


def known_language(name: str) -> str:
    """A language's or family's name as the tables have it; InvalidArgument for one that nothing here is called."""
    plain = name.strip().lower()
    wanted = _ALIASES.get(plain, plain)
    tables = languages().by_name
    known = tables.keys() | {one.family for one in tables.values() if one.family}
    if wanted not in known:
        near = difflib.get_close_matches(wanted, sorted({*known, *_ALIASES}), n=3)
        advice = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(known))}"
        raise InvalidArgument(f"no language {name!r}", hint=advice)
    return wanted


def known_family(name: str) -> str:
    """The family that a language or a family's name stands for: a language without one is its own."""
    wanted = known_language(name)
    one = languages().by_name.get(wanted)
    return (one.family if one is not None else None) or wanted
