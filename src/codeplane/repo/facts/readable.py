"""TypeScript as its grammar reads it: the same bytes at the same places, without what the grammar does not know."""

import re

_SIGHTED = frozenset({"typescript", "tsx"})
# `interface Box<in out T>`: the words say how a parameter varies, and name nothing.
_VARIANCE = re.compile(rb"((?:[<,]|\*/)\s*(?:const\s+)?)(in\s+out|in|out)(?=\s+[A-Za-z_$][\w$]*\s*(?:extends\b|[,>=]))")
# Members of a type need no separator but the line's end, also before what could continue the line above.
# Every repetition keeps what it took: comments could otherwise be divided in endless ways.
_LINE_END = re.compile(rb"\n(?=\s*+(?:(?:/\*(?:[^*]|\*(?!/))*+\*/|//[^\n]*+)\s*+)*+[(<\[])")
_TYPE_END = re.compile(rb"[\w$>\]})\"'`]\s*$")


def readable(language: str, text: bytes) -> bytes:
    """A text for the parser, as long as the text itself."""
    if language not in _SIGHTED or (b" out " not in text and b"<in " not in text and b"in " not in text):
        return text
    return _VARIANCE.sub(lambda match: match[1] + b" " * len(match[2]), text)


def separated(language: str, text: bytes) -> bytes | None:
    """The same with separators where ends of lines may stand for them, or None where there are none."""
    if language not in _SIGHTED:
        return None
    found = bytearray(text)
    for match in _LINE_END.finditer(text):
        end = match.start()
        line = text[text.rfind(b"\n", 0, end) + 1 : end]
        # The end of a line is also that of a comment on it.
        if b"//" not in line and _TYPE_END.search(line[-80:]):
            found[end] = ord(";")
    return bytes(found) if found != text else None
