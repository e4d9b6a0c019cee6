"""The words of a language that cannot be given as names, or only with consequences."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedWords:
    """`hard` words are no names; `soft` ones mean something in places; `shadowed` ones are there without an import."""

    hard: frozenset[str]
    soft: frozenset[str]
    shadowed: frozenset[str]


def reserved_words(*, hard: str, soft: str = "", shadowed: str = "") -> ReservedWords:
    """The same from texts in which blanks part the words."""
    return ReservedWords(hard=words(hard), soft=words(soft), shadowed=words(shadowed))


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
