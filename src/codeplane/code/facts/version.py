"""The version of facts: those that another version made are made again."""

from dataclasses import fields
from functools import cache
from hashlib import sha256

from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import LANGUAGES, query_of
from codeplane.code.model import FORMAT


@cache
def tables_version() -> int:
    """A number that changes with what extraction reads: plain fields of languages, queries, two rules, and repairs."""
    parts = [str(FORMAT)]
    for language in LANGUAGES.values():
        read = (language.classes.static_members, language.classes.members_by_kind)
        repair = language.source_repair.version if language.source_repair is not None else 0
        parts += [_describe_language(language), str(read), query_of(language), str(repair)]
    return int(sha256("\0".join(parts).encode()).hexdigest()[:7], 16)


def _describe_language(language: Language) -> str:
    values = ((field.name, getattr(language, field.name)) for field in fields(language))
    return repr(
        [(name, _sort_keys(value)) for name, value in values if isinstance(value, str | bool | tuple | frozenset)]
    )


def _sort_keys(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value
