"""What `for name in ...` binds, read from the text of the loop and from the annotation of what it goes through."""

import re

from msgspec import Struct

from codeplane.code.languages.expression import Step, closing_bracket, plain_type
from codeplane.code.languages.python.evidence import keeps_its_result, steps_of
from codeplane.code.languages.python.returns import RETURNS
from codeplane.code.model import Definition

_FOR = re.compile(rb"(?<![\w.])(async\s+)?for\s+[\w\x80-\xff]+$")
_IN = re.compile(rb"\s+in\s+([A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)*)")
# A loop ends at its colon; a comprehension at its bracket, its condition or the next loop.
_ENDS = re.compile(rb"\s*(?:[:)\]}]|#|(?:async\s+)?for\b|if\b(?![^\n]*\belse\b))")
_TYPE = re.compile(rb"[ \t]*:[ \t]*")
_TYPE_ENDS = re.compile(rb"[\[\]()=,\n#]")
_GENERIC = re.compile(rb"((?:[\w\x80-\xff]+\.)*([\w\x80-\xff]+))\[(.*)\]", re.DOTALL)
_OF_ITEMS = frozenset(
    b"list List set Set frozenset FrozenSet deque Deque Sequence MutableSequence AbstractSet MutableSet Collection"
    b" Iterable Iterator Reversible KeysView ValuesView".split()
)
_GENERATORS = frozenset({b"Generator"})
_TUPLES = frozenset({b"tuple", b"Tuple"})
_MAPPINGS = frozenset(b"dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict".split())
_FAR = 20_000
_MAX_TYPE = 400


class Loop(Struct, frozen=True):
    """The chain of names that a loop goes through; `of_values` where it goes through the values of a mapping."""

    steps: tuple[Step, ...]
    of_values: bool


class ItemType(Struct, frozen=True):
    """The class of a container's items, and the name of the container's own class."""

    item: tuple[bytes, int]
    container: tuple[bytes, int]


def loop_of(text: bytes, end: int) -> Loop | None:
    """Return the loop that binds the name ending at a place; None where it goes through no plain chain of names."""
    head = _FOR.search(text, max(0, end - _MAX_TYPE), end)
    through = _IN.match(text, end) if head is not None and head[1] is None else None
    if through is None:
        return None
    at, called = through.end(), text[through.end() : through.end() + 1] == b"("
    if called:
        closed = closing_bracket(text, at, most=_FAR)
        if closed is None:
            return None
        arguments, at = text[at + 1 : closed].strip(), closed + 1
    if not _ENDS.match(text, at):
        return None
    steps = steps_of(through[1], through.start(1), called=called)
    if called and not arguments and len(steps) > 1 and steps[-1].name in ("keys", "values"):
        return Loop(steps[:-1], steps[-1].name == "values")
    return Loop(steps, False)


def declared_items(text: bytes, name_end: int, *, of_values: bool) -> ItemType | None:
    """Return what the annotation right after a name says of the items of its value."""
    colon = _TYPE.match(text, name_end)
    if colon is None:
        return None
    depth = 0
    for found in _TYPE_ENDS.finditer(text, colon.end(), colon.end() + _MAX_TYPE):
        depth += (found[0] in b"[(") - (found[0] in b"])")
        if depth < 0 or (depth == 0 and found[0] not in b"])"):
            return _items(text, text[colon.end() : found.start()], colon.end(), of_values=of_values)
    return None


def returned_items(text: bytes, definition: Definition, *, of_values: bool) -> ItemType | None:
    """Return what a function says of the items of what it returns or yields."""
    opened = text.find(b"(", definition.name_at, definition.end)
    closed = closing_bracket(text, opened, most=_FAR) if opened >= 0 else None
    match = RETURNS.match(text, closed + 1) if closed is not None else None
    if match is None or text.startswith(b"async", definition.start) or not keeps_its_result(text, definition):
        return None
    return _items(text, match[1], match.start(1), of_values=of_values)


def _items(text: bytes, written: bytes, at: int, *, of_values: bool) -> ItemType | None:
    bare = written.strip().strip(b"'\"").removesuffix(b"| None").strip()
    generic = _GENERIC.fullmatch(bare)
    if generic is None:
        return None
    start = text.index(bare, at)
    arguments = _split(generic[3])
    name = generic[2]
    position = 1 if of_values else 0
    if name in _MAPPINGS:
        fits = len(arguments) == 2
    elif of_values:
        fits = False
    elif name in _TUPLES:
        fits = len(arguments) == 2 and arguments[1].strip() == b"..."
    else:
        fits = (name in _OF_ITEMS and len(arguments) == 1) or (name in _GENERATORS and bool(arguments))
    item_at = start + generic.start(3) + sum(len(argument) + 1 for argument in arguments[:position])
    item = plain_type(text, arguments[position].strip(), item_at) if fits else None
    return ItemType(item, (generic[1], start)) if item is not None else None


def _split(arguments: bytes) -> list[bytes]:
    """Split the arguments of a type at the commas that are in no brackets."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(arguments):
        depth += (sign in b"[(") - (sign in b"])")
        if sign == 0x2C and depth == 0:
            found.append(arguments[start:at])
            start = at + 1
    rest = arguments[start:]
    return [*found, rest] if rest.strip() else found
