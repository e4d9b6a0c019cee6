"""Line breaks that Kotlin's grammar wants around members, and Kotlin itself does not."""

import re

_MEMBER = (
    rb"abstract|annotation|class|companion|const|constructor|data|enum|external|final|fun|infix|init|inline|inner|interface"
    rb"|internal|lateinit|object|open|operator|override|private|protected|public|sealed|suspend|tailrec|typealias|val"
    rb"|value|var"
)
_TEXT = rb'"""(?:[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/'
_PLACES = re.compile(rb"(?P<text>" + _TEXT + rb")|[ \t](?=\})|(?<=[});])[ \t](?=(?:@|(?:" + _MEMBER + rb")\b))")


def break_lines(text: bytes) -> bytes | None:
    """Return a text with line breaks for the blanks before closing braces, and between members of one line."""
    broken = _PLACES.sub(lambda match: match[0] if match["text"] is not None else b"\n", text)
    return broken if broken != text else None
