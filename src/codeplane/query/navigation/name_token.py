"""The name at a place of a text."""

from dataclasses import dataclass

from codeplane.code.model import Facts

_WORD = bytes(byte >= 128 or chr(byte).isalnum() or chr(byte) in "_$" for byte in range(256))
# Longer words are data.
_MAX_NAME = 1_000
_SIGNS = b"@$#"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameToken:
    """A word, and where it is."""

    name: str
    start: int
    end: int


def name_token(text: bytes, offset: int, facts: Facts) -> NameToken | None:
    """Return the name at an offset or that ends there; None where there is none, or only a number."""
    at = offset if offset < len(text) and _WORD[text[offset]] else offset - 1
    if at < 0 or at >= len(text) or not _WORD[text[at]]:
        return None
    start, end = at, at + 1
    first, last = max(0, at - _MAX_NAME), min(len(text), at + _MAX_NAME)
    while start > first and _WORD[text[start - 1]]:
        start -= 1
    while end < last and _WORD[text[end]]:
        end += 1
    if text[start : start + 1].isdigit() or end - start >= _MAX_NAME:
        return None
    word = text[start:end].decode("utf-8", "replace")
    # Some languages write a sign as a part of the name: `$total`, `@count`, `empty?`.
    for index in facts.indexes_of(word) or _signed(facts, text, start, end):
        definition = facts.definitions[index]
        if definition.name_at <= offset <= definition.name_at + len(definition.name.encode()):
            size = len(definition.name.encode())
            return NameToken(name=definition.name, start=definition.name_at, end=definition.name_at + size)
    return NameToken(name=word, start=start, end=end)


def _signed(facts: Facts, text: bytes, start: int, end: int) -> tuple[int, ...]:
    found: list[int] = []
    for before in (0, 1, 2):
        for after in (0, 1):
            if before + after and (before == 0 or text[start - before : start].strip(_SIGNS) == b""):
                found += facts.indexes_of(text[max(0, start - before) : end + after].decode("utf-8", "replace"))
    return tuple(found)
