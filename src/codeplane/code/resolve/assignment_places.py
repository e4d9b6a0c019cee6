"""Finds the places in a text that assign to a member or a variable."""

import re
from collections.abc import Iterator

_WORD = re.compile(rb"[\w$\x80-\xff]")
# The same as a lookup table by byte.
_IN_WORD = bytes(_WORD.match(bytes([byte])) is not None for byte in range(256))
# Bytes before a name that make it a member, or a part of another name.
_BEFORE_OTHER = bytes(inside or byte == ord(".") for byte, inside in enumerate(_IN_WORD))
_NOTHING = re.compile(rb"[ \t]*(?::[^=\n]{1,200})?=[ \t]*(?:None|null|undefined)[ \t]*(?:[;#\r\n]|$)")
_GIVEN = re.compile(rb"\s*(?:\*\*|//|>>>?|<<|&&|\|\||\?\?|[-+*/%@&|^])?=(?![=>])|[ \t]*(?:\+\+|--)")
_SAID = re.compile(rb"[ \t]*:")
_CHAIN = re.compile(rb"[ \t]*[\w\x80-\xff.]+")
_AS = re.compile(rb"\bas[ \t]+\(?[\w\x80-\xff.]+$")
# What stands behind `in` is what a loop goes over, not a target of it.
_LOOP = re.compile(rb"\bfor[ \t]+(?:(?!\bin\b)[\w\x80-\xff.,* \t()\[\]])+$")
_BEFORE_IN = re.compile(rb"[\w\x80-\xff.,* \t()\[\]]*?\bin\b")
_TARGETS = re.compile(rb"[ \t]*[\w\x80-\xff.,* \t()\[\]]*")
_GOES_ON = frozenset(b".(")
_IN_GLOBALS = re.compile(
    rb"globals\(\)\s*(?:\[\s*(?:[\"']([\w\x80-\xff]+)[\"']|[^\[\]\n]{1,200})\s*\]\s*=(?!=)|\.update\(|\|=)"
)
# Unless one of these comes before a member, only the text after the member can make it a target.
_MAKING = (b"as ", b"for ", b"as\t", b"for\t", b"++", b"--")
_TO_EQUALS = re.compile(rb"[ \t]*[,)\]][\w\x80-\xff.,* \t()\[\]]*=(?!=)")


def says_nothing(text: bytes, end: int) -> bool:
    """Whether the name that ends there is assigned None, null or undefined, which have no members."""
    return _NOTHING.match(text, end) is not None


def members_given(text: bytes, name: str) -> Iterator[int]:
    """Yield the places where a member of the given name is assigned."""
    wanted = b"." + name.encode()
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (end < len(text) and _IN_WORD[text[end]]) and _is_target(text, at, end):
            yield at + 1
        at = text.find(wanted, end)


def set_by_name(text: bytes, name: str) -> Iterator[int]:
    """Yield the places where `setattr` sets a member by its quoted name; the value there is unknown."""
    # `bytes.find` is many times faster than a pattern with a lookbehind.
    at = text.find(b"setattr(")
    if at < 0:
        return
    pattern = re.compile(rb"(?<![.\w])setattr\(\s*[^,()]{1,200},\s*[\"'](%s)[\"']" % re.escape(name.encode()))
    while at >= 0:
        found = pattern.match(text, at)
        if found is not None:
            yield found.start(1)
        at = text.find(b"setattr(", at + 1)


def sets_globals(text: bytes, name: str) -> bool:
    """Whether `globals()` is used to set a variable by its quoted name, or variables by computed names."""
    at = text.find(b"globals()")
    while at >= 0:
        found = _IN_GLOBALS.match(text, at)
        if found is not None and (found[1] is None or found[1] == name.encode()):
            return True
        at = text.find(b"globals()", at + 1)
    return False


def names_given(text: bytes, name: str) -> Iterator[int]:
    """Yield the places where a plain name is assigned."""
    wanted, last = name.encode(), len(text)
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        alone = not (end < last and _IN_WORD[text[end]]) and not (at and _BEFORE_OTHER[text[at - 1]])
        if alone and (_GIVEN.match(text, end) or _is_listed(text, at, end) or text[at - 2 : at] in (b"++", b"--")):
            yield at
        at = text.find(wanted, end)


def _is_target(text: bytes, dot: int, end: int) -> bool:
    before = text[text.rfind(b"\n", 0, dot) + 1 : dot]
    if end < len(text) and text[end] in _GOES_ON:
        # Most members are called or have a member read from them; a line that makes such a member a target is rare.
        for making in _MAKING:
            if making in before:
                break
        else:
            return False
    if _GIVEN.match(text, end):
        return True
    if _SAID.match(text, end):
        # A bare annotation; a colon after `if` or in a dictionary is not one.
        return _CHAIN.fullmatch(before) is not None or _AS.search(before) is not None
    if _AS.search(before) or before.lstrip().startswith((b"++", b"--")):
        return True
    if _LOOP.search(before) and _BEFORE_IN.match(text, end):
        return True
    return _is_listed(text, dot, end)


def _is_listed(text: bytes, at: int, end: int) -> bool:
    """Whether a place is one of several targets, as in `a, b.c = …`; a name inside a call or an index is not."""
    before = text[text.rfind(b"\n", 0, at) + 1 : at]
    if not _TO_EQUALS.match(text, end) or not _TARGETS.fullmatch(before):
        return False
    opened: list[bool] = []
    for index, char in enumerate(before):
        if char in b"([":
            opened.append(index > 0 and _WORD.match(before, index - 1) is not None)
        elif char in b")]" and opened:
            opened.pop()
    return not any(opened)
