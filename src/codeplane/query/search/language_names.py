"""Language names from callers: a language, a family, or a short form."""

import difflib

from codeplane.code.languages.registry import LANGUAGES, languages
from codeplane.kernel.errors import InvalidArgument

_ALIASES = {alias: language.name for language in LANGUAGES.values() for alias in language.aliases}


def known_language(name: str) -> str:
    """The canonical name of a language or family; InvalidArgument if unknown."""
    plain = name.strip().lower()
    wanted = _ALIASES.get(plain, plain)
    tables = languages().by_name
    known = tables.keys() | {language.family for language in tables.values() if language.family}
    if wanted not in known:
        near = difflib.get_close_matches(wanted, sorted({*known, *_ALIASES}), n=3)
        advice = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(known))}"
        raise InvalidArgument(f"no language {name!r}", hint=advice)
    return wanted


def known_family(name: str) -> str:
    """The family of a language; a language without one is its own."""
    wanted = known_language(name)
    language = languages().by_name.get(wanted)
    return (language.family if language is not None else None) or wanted
