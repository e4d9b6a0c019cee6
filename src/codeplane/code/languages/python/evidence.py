"""What the text says about a value: what a function returns, what a name copies, which binding reaches a use."""

import re
from collections.abc import Sequence

from codeplane.code.languages.expression import Step, closing_bracket, plain_type
from codeplane.code.languages.python.returns import RETURNS
from codeplane.code.model import Definition

_COPIED = re.compile(
    rb"(?:\s*:[^=\n]{1,200})?[ \t]*=[ \t]*([A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)*)"
    rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|$)"
)
_PART = re.compile(rb"[^\s.]+")
_DECORATOR = re.compile(rb"^\s*@\s*(?:[\w\x80-\xff]+\.)*([\w\x80-\xff]+)", re.MULTILINE)
_PROPERTY = frozenset({b"property", b"cached_property", b"abstractproperty"})
# What these are put on returns what it says.
_KEEPING = frozenset(
    {b"staticmethod", b"classmethod", b"abstractmethod", b"override", b"final", b"cache", b"lru_cache", b"wraps"}
)
_LOOP = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:for|while)\b", re.MULTILINE)
_BINDING = re.compile(rb"[ \t]*(?:(?:async[ \t]+)?(?:with|for|def)\b.*|(?:from|import)\b.*)?$", re.DOTALL)
_MODULE = re.compile(rb"(?:^|[;:])[ \t]*(?:from[ \t]+|import[ \t](?:[^;]*[, \t\\])?)([\w.\x80-\xff]*)$")
_NESTING = re.compile(rb"[()\[\]{}\n]")
_FAR = 20_000


def decorators(text: bytes, definition: Definition) -> bytes:
    """The lines of decorators right above a definition."""
    end = text.rfind(b"\n", 0, definition.start) + 1
    indent = _indent(text[end : definition.start + 1])
    start = at = end
    depth = 0
    while at > 0:
        line_at = text.rfind(b"\n", 0, at - 1) + 1
        raw = text[line_at:at]
        line, at = raw.strip(), line_at
        if line.startswith(b"@") and _indent(raw) == indent:
            # Brackets in its strings count for nothing once its beginning is found.
            start, depth = at, 0
            continue
        depth += sum(map(line.count, (b")", b"]", b"}"))) - sum(map(line.count, (b"(", b"[", b"{")))
        closes = line.startswith((b")", b"]", b"}", b"#"))
        if not line.startswith(b"#") and (depth <= 0 or (_indent(raw) <= indent and line and not closes)):
            break
    return text[start:end]


def module_before(text: bytes, offset: int) -> str | None:
    """What stands before a name in the module that an import statement names; None where a name is not in one.

    That it is no name which the statement brings is known already.
    """
    start = text.rfind(b"\n", 0, offset) + 1
    while text[max(0, start - 3) : start].rstrip(b"\r\n").endswith(b"\\"):
        start = text.rfind(b"\n", 0, start - 1) + 1
    before = text[start:offset]
    if b"from" not in before and b"import" not in before:
        return None
    found = _MODULE.search(before.replace(b"\n", b" "))
    return found[1].decode("utf-8", "replace") if found is not None else None


def decorator_names(text: bytes, definition: Definition) -> frozenset[bytes]:
    """The last names of what a definition is decorated with."""
    return frozenset(_DECORATOR.findall(decorators(text, definition)))


def is_property(text: bytes, definition: Definition) -> bool:
    """Whether a method is read like a field."""
    names = _DECORATOR.findall(decorators(text, definition))
    return len(names) == 1 and names[0] in _PROPERTY


def returned_class(text: bytes, definition: Definition, *, awaited: bool) -> tuple[bytes, int] | None:
    """The class a function says it returns, unless something it is decorated with may say otherwise."""
    if text.startswith(b"async", definition.start) is not awaited or not keeps_its_result(text, definition):
        return None
    opened = text.find(b"(", definition.name_at, definition.end)
    closed = closing_bracket(text, opened, most=_FAR) if opened >= 0 else None
    match = RETURNS.match(text, closed + 1) if closed is not None else None
    return plain_type(text, match[1].strip(), match.start(1)) if match is not None else None


def keeps_its_result(text: bytes, definition: Definition) -> bool:
    """Whether a function has no decorator that may make it return something other than it says."""
    names = decorator_names(text, definition)
    return names <= _KEEPING or names <= _PROPERTY


def copied_chain(text: bytes, name_end: int) -> tuple[bytes, int] | None:
    """The chain of names that is all a name is given."""
    match = _COPIED.match(text, name_end)
    return (match[1], match.start(1)) if match is not None else None


def steps_of(chain: bytes, at: int, *, called: bool) -> tuple[Step, ...]:
    """A chain as it is read before a member."""
    parts = list(_PART.finditer(chain))
    return tuple(
        Step(part[0].decode("utf-8", "replace"), at + part.start(), called and part is parts[-1]) for part in parts
    )


def binding_before(text: bytes, places: Sequence[int], use: int) -> int:
    """The binding that certainly is the last one before a use in the same scope, or -1, by indentation."""
    before = sorted((at for at in places if at < use), reverse=True)
    while before and in_one_statement(text, before[0], use):
        before.pop(0)
    if not before or use - before[0] > _FAR:
        return -1
    at = before[0]
    line = text.rfind(b"\n", 0, at) + 1
    if not _BINDING.match(text[line:at]):
        return -1
    between = text[at:use]
    if any(later > use for later in places) and _LOOP.search(between):
        return -1
    indent = _indent(text[line:at])
    whole = between.split(b"\n")[1:]
    # The last piece is the beginning of the use's own line.
    for index, piece in enumerate(whole):
        if (piece.strip() or index == len(whole) - 1) and _indent(piece) < indent:
            return -1
    return at


def in_one_statement(text: bytes, at: int, use: int) -> bool:
    """Whether two places are in one statement: no line ends between them outside of brackets."""
    depth = 0
    for found in _NESTING.finditer(text, at, use):
        if found[0] == b"\n":
            if depth <= 0:
                return False
        else:
            depth += 1 if found[0] in b"([{" else -1
    return True


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))
