"""What a file says of a definition outside of it: in front of it, around it, or anywhere."""

import re

from codeplane.code.languages.contract import Contract
from codeplane.code.model import Definition
from codeplane.query.compare.tokens import Span

_TEMPLATE = re.compile(rb"\btemplate\s*<")
_UNNAMED = re.compile(rb"\bnamespace\s*\{")
_PASSED_TYPE = re.compile(rb"\bexport\s+type\s*\{([^}]*)\}")
_IMPL = re.compile(
    rb"\bimpl\b(?:\s*<[^{};]*?>)?\s+(?:\w+\s*::\s*)*(\w+)(?:\s*<[^{};]*?>)?\s+for\s+(?:\w+\s*::\s*)*(\w+)"
)
_USE = re.compile(rb"(?:\bpub(\s*\([^)]*\))?\s+)?\buse\b")
_OPEN, _CLOSE, _LESS, _MORE = b"{}<>"


def type_only(text: bytes) -> frozenset[str]:
    """The names of which a script gives away the type alone."""
    if b"type" not in text:
        return frozenset()
    listed = [
        name.split() for match in _PASSED_TYPE.findall(text) for name in match.decode("utf-8", "replace").split(",")
    ]
    return frozenset(words[0] for words in listed if words)


def implemented(text: bytes) -> frozenset[tuple[str, str]]:
    """The traits that a Rust file gives to types, each with the type's name."""
    return frozenset((one.decode(), two.decode()) for one, two in _IMPL.findall(text))


def unnamed(text: bytes) -> tuple[Span, ...]:
    """C++'s namespaces without a name, which no other file can reach."""
    found: list[Span] = []
    for match in _UNNAMED.finditer(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += (text[at] == _OPEN) - (text[at] == _CLOSE)
            at += 1
        found.append((match.start(), at))
    return tuple(found)


def is_passed_on(text: bytes, at: int) -> bool:
    """Whether the Rust `use` before a place gives others what it brings in."""
    found = list(_USE.finditer(text, max(0, at - 4000), max(at, 0)))
    return bool(found) and found[-1][0].startswith(b"pub") and found[-1][1] is None


def template_from(text: bytes, one: Definition) -> int:
    """Where `template <…>` before a C++ definition begins, or the definition itself."""
    for match in reversed(list(_TEMPLATE.finditer(text, max(0, one.start - 2000), one.start))):
        depth = 0
        for at in range(match.end() - 1, one.start):
            depth += (text[at] == _LESS) - (text[at] == _MORE)
            if not depth:
                return match.start() if not text[at + 1 : one.start].strip() else one.start
    return one.start


def start_of(rules: Contract, text: bytes, one: Definition) -> int:
    """Where what is said of a definition begins, also where the grammar knows a value by its name alone."""
    if not rules.bare_values or one.start != one.name_at:
        return one.start
    return max(text.rfind(sign, 0, one.start) for sign in (b"\n", b";", b"{")) + 1
