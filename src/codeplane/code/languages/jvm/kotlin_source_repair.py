"""What Kotlin's grammar does not read: members of one line, and bodies of classes behind what they delegate to."""

import re

_MEMBER = (
    rb"abstract|annotation|class|companion|const|constructor|data|enum|external|final|fun|infix|init|inline|inner|interface"
    rb"|internal|lateinit|object|open|operator|override|private|protected|public|sealed|suspend|tailrec|typealias|val"
    rb"|value|var"
)
_TEXT = rb'"""(?:[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/'
_PLACES = re.compile(rb"(?P<text>" + _TEXT + rb")|[ \t](?=\})|(?<=[});])[ \t](?=(?:@|(?:" + _MEMBER + rb")\b))")

# `: Base by value {` behind the name or parameters of a class; the grammar takes its body for an argument of the value.
_DELEGATE = re.compile(rb"[:,]\s*[\w.]+(?:<[^{}()=]{0,200}>)?\s+(by\s[^{}\n]{1,300}?)\s*\{")
_PROPERTY = re.compile(rb"\bva[lr]\s+[\w.<>?]+\s*$")
_FAR = 100


# `class Name` with `private constructor(` on the next line.
_CONSTRUCTOR = re.compile(
    rb"(\bclass\s+\w+(?:<[^<>{}()]*>)?[ \t]*)(\r?\n\s*)(?=(?:(?:private|protected|internal|public)\s+)?constructor\b)"
)


def write_heads(text: bytes) -> bytes:
    """Return a text with the heads of classes as the grammar reads them; every byte keeps its place."""
    if b"constructor" in text:
        text = _CONSTRUCTOR.sub(lambda match: match[1] + b" " * len(match[2]), text)
    return blank_delegates(text)


def blank_delegates(text: bytes) -> bytes:
    """Return a text without what classes delegate to, where a body follows."""
    if b"by " not in text:
        return text
    blanked = bytearray(text)
    for match in _DELEGATE.finditer(text):
        if not _PROPERTY.search(text, max(0, match.start() - _FAR), match.start()):
            start, end = match.span(1)
            blanked[start:end] = b" " * (end - start)
    return bytes(blanked)


def break_lines(text: bytes) -> bytes | None:
    """Return a text with line breaks for the blanks before closing braces, and between members of one line."""
    broken = _PLACES.sub(lambda match: match[0] if match["text"] is not None else b"\n", text)
    return broken if broken != text else None
