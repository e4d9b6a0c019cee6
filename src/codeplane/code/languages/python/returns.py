"""What calling a Python function returns, read from its body."""

import re
from collections.abc import Iterator

from codeplane.code.model import Facts

RETURNS = re.compile(rb"\s*->\s*([^:\n{]{1,200}):")
_YIELD = re.compile(rb"\byield\b")
_MADE = re.compile(rb"\breturn[ \t]+([A-Za-z_\x80-\xff][\w.\x80-\xff]*)\(")


def is_generator(facts: Facts, text: bytes, index: int) -> bool:
    """Whether calling a function gives what yields its values, whatever its annotation says."""
    return any(True for _ in in_body(facts, text, index, _YIELD))


def returned_calls(facts: Facts, text: bytes, index: int) -> list[tuple[bytes, int]]:
    """The names that a function returns calls of, and where they stand."""
    return [(match[1], match.start(1)) for match in in_body(facts, text, index, _MADE)]


def in_body(facts: Facts, text: bytes, index: int, wanted: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
    """Yield what a pattern matches in a function's own body, without nested functions, strings and comments."""
    body, definition = facts.body_of.get(index, -1), facts.definitions[index]
    for match in wanted.finditer(text, definition.name_at, definition.end) if body >= 0 else ():
        if not facts.in_text(match.start()) and facts.scope_at(match.start()) == body:
            yield match
