"""Generator functions, which Python marks only by their bodies."""

import re
from collections.abc import Iterator

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.query.compare.header import Header

_YIELD = re.compile(rb"\byield\b")
_RETURN = re.compile(rb"\breturn\b[ \t]*([^\n]*)")
_MADE = re.compile(rb"(?:itertools\.)?([A-Za-z_]\w*)\(")
_ITERATORS = frozenset({"iter", "map", "filter", "zip", "enumerate", "reversed"})
# The interpreter calls these, and takes any iterator.
_ASKED = frozenset({"__iter__", "__aiter__", "__await__", "__reversed__"})
_INNER = frozenset({"function", "lambda"})
# What is around such a function makes something else of it.
_WRAPPED = frozenset(
    {"contextmanager", "asynccontextmanager", "fixture", "coroutine", "inlineCallbacks", "hookimpl", "contextmethod"}
)
# Types that a generator has, too: callers that expect one of these are satisfied either way.
_PROMISED = frozenset({"Iterator", "Iterable", "AsyncIterator", "AsyncIterable"})


def yields(facts: Facts, text: bytes, definition: Definition) -> bool:
    """Whether a Python function is a generator: it has a `yield` outside nested functions."""
    if (
        not LANGUAGES[facts.language].contract.generators_by_body
        or text.find(b"yield", definition.body, definition.end) < 0
    ):
        return False
    return any(True for _ in _own_matches(_YIELD, facts, text, definition))


def gives_iterators(facts: Facts, text: bytes, definition: Definition) -> bool:
    """Whether whatever a Python function gives is an iterator, as its body shows."""
    if definition.name in _ASKED or yields(facts, text, definition):
        return True
    results = [match[1].strip() for match in _own_matches(_RETURN, facts, text, definition)]
    results = [result for result in results if result]
    return bool(results) and all(_is_iterator(facts, text, result) for result in results)


def _is_iterator(facts: Facts, text: bytes, result: bytes) -> bool:
    if result.startswith(b"(") and re.search(rb"\bfor\b", result):
        return True
    made = _MADE.match(result)
    if made is None:
        return False
    name = made[1].decode()
    if made[0].startswith(b"itertools.") or name in _ITERATORS:
        return True
    if any(item.local == name and item.source == "itertools" for item in facts.imports):
        return True
    return any(
        each.name == name and each.container < 0 and each.body < each.end and yields(facts, text, each)
        for each in facts.definitions
    )


def _own_matches(
    pattern: re.Pattern[bytes], facts: Facts, text: bytes, definition: Definition
) -> Iterator[re.Match[bytes]]:
    """The matches in the body of a function that are in no function inside it, and in no string."""
    inner = [
        (scope.start, scope.end)
        for scope in facts.scopes
        if scope.kind in _INNER and definition.body <= scope.start and scope.end <= definition.end
    ]
    for match in pattern.finditer(text, definition.body, definition.end):
        at = match.start()
        if not any(first <= at < last for first, last in inner) and not facts.in_text(at):
            yield match


def gives_the_same(old: Header, new: Header) -> bool:
    """Whether callers cannot tell that a function became, or ceased to be, a generator."""
    if any(word in _WRAPPED for header in (old, new) for mark in header.marks for word in re.findall(r"\w+", mark)):
        return True
    before, after = (set(re.findall(r"\w+", header.returns)[:3]) for header in (old, new))
    if gives_an_iterator(old, new):
        return True
    return bool(before & after & _PROMISED) and ("async" in old.modifiers) == ("async" in new.modifiers)


def gives_an_iterator(old: Header, new: Header) -> bool:
    """Whether an asynchronous generator became a function that gives an asynchronous iterator, or the other way."""
    sides = [{"async", "*"} <= header.modifiers for header in (old, new)]
    other = new if sides[0] else old
    plain = {"async", "*"}.isdisjoint(other.modifiers)
    return any(sides) and plain and re.match(r"\W*(?:\w+ ?\. ?)*Async(?:Iter|Generator)", other.returns) is not None
