"""What `with ... as name` binds, read from the text of the statement and of the context manager."""

import re

from msgspec import Struct

from codeplane.code.languages.expression import InComment, Step, chain_before, closing_bracket, plain_type
from codeplane.code.languages.python.evidence import decorator_names, in_one_statement
from codeplane.code.languages.python.returns import RETURNS, in_body
from codeplane.code.model import Definition, Facts

_AS = re.compile(rb"\bas[ \t]+[\w\x80-\xff]+$")
_WITH = re.compile(rb"[ \t]*(async[ \t]+)?with\b")
_ITEM = re.compile(rb"(?:\bwith|[,(])\s*$")
_RETURN = re.compile(rb"\breturn\b[ \t]*([^\n;]*)")
_SELF = re.compile(rb"['\"]?(?:[\w.]+\.)?Self['\"]?")
_FIRST = re.compile(rb"\(\s*([\w\x80-\xff]+)[ \t]*(?::[ \t]*['\"]?([\w.\x80-\xff\[\]]+)['\"]?)?[ \t]*[,)]")
_YIELDS = re.compile(rb"['\"]?(?:[\w.]+\.)?(?:Async)?(?:Iterator|Generator|Iterable)\[(.*)\]['\"]?", re.DOTALL)
_MANAGERS = {False: {b"contextmanager"}, True: {b"asynccontextmanager"}}
_FAR = 20_000


class Entered(Struct, frozen=True):
    """The expression of a `with` item, and whether the statement is asynchronous."""

    steps: tuple[Step, ...]
    end: int
    is_async: bool


def entered_context(text: bytes, end: int, in_comment: InComment) -> Entered | None:
    """The expression whose context the name that ends at a place is bound to; None where it is no chain of names."""
    line = text.rfind(b"\n", 0, end) + 1
    bound = _AS.search(text, line, end)
    if bound is None:
        return None
    with_at = _statement(text, line, end)
    steps = chain_before(text, bound.start() - 1, in_comment) if with_at is not None else None
    if with_at is None or not steps or not _ITEM.search(text, with_at.start(), steps[0].at):
        return None
    return Entered(steps, bound.start(), with_at[1] is not None)


def _statement(text: bytes, line: int, end: int) -> re.Match[bytes] | None:
    """The beginning of the `with` statement that contains a place."""
    while line >= 0 and end - line < _FAR:
        found = _WITH.match(text, line, end)
        if found is not None:
            return found if in_one_statement(text, found.end(), end) else None
        line = text.rfind(b"\n", 0, line - 1) + 1 if line > 0 else -1
    return None


def returns_self(facts: Facts, text: bytes, index: int, *, is_async: bool) -> bool:
    """Whether a method declares or visibly does nothing else than return its own instance."""
    method = facts.definitions[index]
    opened = text.find(b"(", method.name_at, method.end)
    first = _FIRST.match(text, opened) if opened >= 0 else None
    if first is None or text.startswith(b"async", method.start) is not is_async or decorator_names(text, method):
        return False
    closed = closing_bracket(text, opened)
    written = RETURNS.match(text, closed + 1) if closed is not None else None
    if written is not None:
        declared = written[1].strip()
        return _SELF.fullmatch(declared) is not None or declared.strip(b"'\"") == first[2]
    given = [found[1].partition(b"#")[0].strip() for found in in_body(facts, text, index, _RETURN)]
    return bool(given) and all(value == first[1] for value in given)


def yielded_class(text: bytes, definition: Definition, *, is_async: bool) -> tuple[bytes, int] | None:
    """The class that a function made into a context manager by its decorator says that it yields."""
    if decorator_names(text, definition) != _MANAGERS[is_async]:
        return None
    opened = text.find(b"(", definition.name_at, definition.end)
    closed = closing_bracket(text, opened, most=_FAR) if opened >= 0 else None
    written = RETURNS.match(text, closed + 1) if closed is not None else None
    items = _YIELDS.fullmatch(written[1].strip()) if written is not None else None
    if written is None or items is None:
        return None
    return plain_type(text, items[1].partition(b",")[0].strip(), written.start(1) + written[1].index(b"["))
