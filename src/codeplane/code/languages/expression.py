"""Reads the expression before a member, and the type beside a name, from the text around them."""

import re
from collections.abc import Callable

from msgspec import Struct

_WORD = bytes(byte >= 128 or chr(byte).isalnum() or chr(byte) in "_$" for byte in range(256))
_SPACE = b" \t\r\n\\"
_AFTER_OPERATOR = b"." + _SPACE
_MAX_CALL = 2_000
_MAX_CHAIN = 8
_CHAIN = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:\s*\.\s*[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)*")
_OPTIONAL = re.compile(rb"^(?:typing\.)?(?:Optional|ClassVar|Final)\[(.*)\]$", re.DOTALL)
# Of several targets, as in `a = b = A()`, each is given the same.
_MAKING = re.compile(
    rb"(?:\s*[?!]?\s*:[^=\n]{1,200})?\s*=\s*(?:[\w$.\x80-\xff]+[ \t]*=(?![=>])[ \t]*)*(?:await\s+)?(new\s+)?"
)
# What stands on the next line after a colon is a block.
_TYPE = re.compile(rb"\s*[?!]?\s*:[ \t]*([^=,)\n{;]{1,200})")
_TYPE_AT = re.compile(rb"\s*[?!]?\s*:\s*(?:\|\s*)?")
_NOTHING = re.compile(rb"\s*\|\s*(?:null|undefined)\b")
_TYPE_ENDS = re.compile(rb"\s*(?:[,;)={}]|$)|[ \t]*(?:\r?\n|//|/\*)")
_LEFT = re.compile(rb"[ \t\r]*")
_BLANK = re.compile(rb"\s*")
_BRACKET = re.compile(rb"[()\[\]{}]")
_MAX_TYPE = 600


InComment = Callable[[int], bool]


class Step(Struct, frozen=True, gc=False):
    """A name of a chain, and whether it is called."""

    name: str
    at: int
    called: bool


def receiver(text: bytes, member_at: int, in_comment: InComment) -> tuple[Step, ...] | None:
    """The chain before a member (`a.b().` before `c`), empty when there is no member operator, None when unreadable.

    `in_comment` tells whether a place is in a comment: what one above says is no part of the chain.
    """
    if member_at == 0 or text[member_at - 1] not in _AFTER_OPERATOR:
        return ()
    at = _back_over_space(text, member_at - 1)
    dot = _operator(text, at)
    if dot is None or _above(text, at, member_at, in_comment):
        return ()
    return chain_before(text, dot, in_comment)


def chain_before(text: bytes, at: int, in_comment: InComment) -> tuple[Step, ...] | None:
    """The chain of names and calls that ends at a place, None when it is something else."""
    steps: list[Step] = []
    while len(steps) < _MAX_CHAIN:
        below, at = at, _back_over_space(text, at)
        if _above(text, at, below, in_comment):
            return None
        called = False
        if at > 0 and text[at : at + 1] == b"!":
            at = _back_over_space(text, at - 1)
        if at >= 0 and text[at : at + 1] == b")":
            opened = _opening_bracket(text, at)
            if opened is None:
                return None
            called, at = True, _before_arguments(text, opened - 1)
        end = at + 1
        while at >= 0 and _WORD[text[at]]:
            at -= 1
        if end == at + 1 or text[at + 1 : at + 2].isdigit():
            return None
        steps.append(Step(text[at + 1 : end].decode("utf-8", "replace"), at + 1, called))
        ended = _back_over_space(text, at)
        before = _operator(text, ended)
        if before is None or _above(text, ended, at, in_comment):
            return tuple(reversed(steps))
        at = before
    return None


def is_reached(operators: tuple[bytes, ...], text: bytes, member_at: int) -> bool:
    """Whether a name stands behind an operator such as `->` or `::`: it is a member, of what is not followed."""
    # With a space between, an arrow is that of a type.
    return text[max(0, member_at - 2) : member_at] in operators


def shape(text: bytes, member_at: int) -> str:
    """The receiver as a pattern: `self.`, `obj.`, `call().`; what unresolved members are grouped by."""
    steps = receiver(text, member_at, lambda place: False)
    if steps is None:
        return "expression."
    return "".join(f"{step.name}{'()' if step.called else ''}." for step in steps[-2:])


def constructed_class(text: bytes, name_end: int) -> tuple[bytes, int] | None:
    """The class a name is given an instance of right where it is bound: `= Chain(...)` or `= new Chain(...)`."""
    match = _MAKING.match(text, name_end)
    chain = _CHAIN.match(text, match.end()) if match else None
    if match is None or chain is None:
        return None
    opened = _after_arguments(text, chain.end())
    if text[opened : opened + 1] != b"(":
        # Without arguments `new Chain` makes one all the same.
        return (chain[0], chain.start()) if match[1] and _TYPE_ENDS.match(text, opened) else None
    closed = closing_bracket(text, opened)
    if closed is None:
        return None
    after = _LEFT.match(text, closed + 1)
    following = text[after.end() : after.end() + 1] if after else b""
    if following == b"\n" and match[1]:
        # What is made may be called on the next line.
        after = _BLANK.match(text, closed + 1)
        following = b"." if after and text[after.end() : after.end() + 1] in (b".", b"?", b"[") else following
    return (chain[0], chain.start()) if following in (b"", b"\n", b"#", b";", b")", b",", b"/", b"}") else None


def is_first_of_several(text: bytes, chain: bytes, at: int) -> bool:
    """Whether a comma follows a call, so that what is made is one of several: `a, b = A(), B()`."""
    opened = text.find(b"(", at + len(chain))
    closed = closing_bracket(text, opened) if opened >= 0 else None
    after = _LEFT.match(text, closed + 1) if closed is not None else None
    return after is not None and text[after.end() : after.end() + 1] == b","


def annotated_type(text: bytes, name_end: int) -> tuple[bytes, int] | None:
    """The type written after a name: `: Chain`, with quotes, `| None` and `Optional[...]` taken off."""
    match = _TYPE.match(text, name_end)
    if match is None:
        return None
    return plain_type(text, match[1].strip(), match.start(1))


def plain_type(text: bytes, written: bytes, at: int) -> tuple[bytes, int] | None:
    """The one name in a type, with quotes, `| None` and `Optional[...]` taken off."""
    optional = _OPTIONAL.match(written)
    if optional:
        at += written.index(optional[1])
        written = optional[1].strip()
    parts = [part.strip() for part in written.strip(b"'\"").split(b"|")]
    parts = [part for part in parts if part.strip(b"'\"") not in (b"None", b"null", b"undefined")]
    if len(parts) != 1:
        return None
    plain = parts[0].strip(b"'\" ")
    chain = _CHAIN.fullmatch(plain.partition(b"<")[0].strip())
    return (chain[0], text.index(chain[0], at)) if chain else None


def declared_type(text: bytes, name_end: int) -> tuple[bytes, int] | None:
    """The same where types are TypeScript's: a name with its arguments, and nothing else but `null` and `undefined`."""
    match = _TYPE_AT.match(text, name_end)
    chain = _CHAIN.match(text, match.end()) if match else None
    if chain is None:
        return None
    at = _after_arguments(text, chain.end())
    while nothing := _NOTHING.match(text, at):
        at = nothing.end()
    return (chain[0], chain.start()) if _TYPE_ENDS.match(text, at) else None


def says_type(text: bytes, name_end: int) -> bool:
    """Whether any type is written after a name, read or not."""
    return _TYPE_AT.match(text, name_end) is not None


def chains(text: bytes, start: int, end: int) -> list[tuple[bytes, int]]:
    """The names of a list of bases, at the outermost level: `(A, b.C[T], metaclass=M)` gives A and b.C."""
    found: list[tuple[bytes, int]] = []
    at, depth = start, 0
    opener = text[start : start + 1] == b"("
    while at < end:
        char = text[at : at + 1]
        if char in b"([{<":
            depth += 1
        elif char in b")]}>":
            depth -= 1
        elif depth == (1 if opener else 0):
            chain = _CHAIN.match(text, at, end)
            if chain:
                following = text[chain.end() : end].lstrip()[:1]
                if chain[0] not in (b"extends", b"implements") and following != b"=":
                    found.append((chain[0], at))
                elif following == b"=":
                    return found
                at = chain.end()
                continue
        at += 1
    return found


def base_types(text: bytes, start: int, end: int) -> list[tuple[bytes, int] | None]:
    """What a class or interface extends, without what it implements; None stands for what is not a plain name."""
    found: list[tuple[bytes, int] | None] = []
    at = start
    if text[at : at + 10] == b"implements":
        return found
    at += 7 if text[at : at + 7] == b"extends" else 0
    while at < end:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at >= end or text[at : at + 10] == b"implements":
            break
        chain = _CHAIN.match(text, at, end)
        after = _after_arguments(text, chain.end()) if chain else at
        blank = _BLANK.match(text, after)
        after = blank.end() if blank else after
        if chain is None or not (
            after >= end or text[after : after + 1] == b"," or text[after : after + 10] == b"implements"
        ):
            found.append(None)
            break
        found.append((chain[0], chain.start()))
        at = after + (text[after : after + 1] == b",")
    return found


def is_short(text: bytes, start: int, end: int) -> bool:
    """Whether a name stands for a property and a variable at once: `{ name }`, `{ name = 1 }`."""
    after = _BLANK.match(text, end)
    following = text[after.end() : after.end() + 1] if after else b""
    at = _back_over_space(text, start - 1)
    if following not in (b",", b"}", b"=") or text[at : at + 1] not in (b"{", b",", b"/"):
        return False
    depth = 0
    for index in range(at, max(at - _MAX_CALL, -1), -1):
        char = text[index]
        if char in b")]}":
            depth += 1
        elif char in b"([{":
            if depth == 0:
                return char == ord("{")
            depth -= 1
    return False


def _back_over_space(text: bytes, at: int) -> int:
    while at >= 0 and text[at] in _SPACE:
        at -= 1
    return at


def _above(text: bytes, at: int, below: int, in_comment: InComment) -> bool:
    """Whether a place is at the end of a comment on a line above."""
    return at >= 0 and text.find(b"\n", at, below + 1) >= 0 and in_comment(at)


def _operator(text: bytes, at: int) -> int | None:
    """The place before a member operator that ends here, or None."""
    if at < 0 or text[at : at + 1] != b".":
        return None
    if text[at - 1 : at] == b"." and at > 0:
        return None
    return at - 2 if text[at - 1 : at] == b"?" else at - 1


def _before_arguments(text: bytes, at: int) -> int:
    """The end of what is called, before the type arguments that may stand between."""
    at = _back_over_space(text, at)
    if text[at : at + 1] != b">" or text[at - 1 : at] == b"=":
        return at
    depth = 0
    for index in range(at, max(at - _MAX_TYPE, -1), -1):
        char = text[index]
        if char in b";{}" or (char == ord(">") and text[index - 1 : index] == b"="):
            break
        depth += (char == ord(">")) - (char == ord("<"))
        if depth == 0:
            return _back_over_space(text, index - 1)
    return at


def _after_arguments(text: bytes, at: int) -> int:
    """The end of a name with its type arguments, if it has any."""
    if text[at : at + 1] != b"<":
        return at
    depth = 0
    for index in range(at, min(at + _MAX_TYPE, len(text))):
        char = text[index]
        if char == ord(">") and text[index - 1 : index] == b"=":
            continue
        depth += (char == ord("<")) - (char == ord(">"))
        if depth == 0:
            return index + 1
    return at


def _opening_bracket(text: bytes, at: int) -> int | None:
    depth = 0
    for index in range(at, max(at - _MAX_CALL, -1), -1):
        char = text[index]
        if char in b")]}":
            depth += 1
        elif char in b"([{":
            depth -= 1
            if depth == 0:
                return index
    return None


def closing_bracket(text: bytes, at: int, *, most: int = _MAX_CALL) -> int | None:
    """Where the bracket at a place is closed."""
    depth = 0
    for found in _BRACKET.finditer(text, at, at + most):
        if found[0] in b"([{":
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            return found.start()
    return None
