"""Stack traces without what differs from run to run."""

import re

_SEGMENT = r"[^\s/\\:\"'()\[\],;]+"
_NOISE = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"0x[0-9a-f]+|(?<=@)[0-9a-f]{6,16}\b", re.I), "<address>"),
    # Quoted, a path may hold spaces.
    (re.compile(r'(?<=File ")[^"\n]*[/\\](?=[^"/\\\n]+")'), ""),
    # Of a path its last part stays, if that is a file's name; a folder's may be made up for one run.
    (re.compile(rf"(?<![\w.+@~-])(?:[A-Za-z]:)?(?:[/\\]{_SEGMENT})*[/\\](?={_SEGMENT}\.\w)"), ""),
    (re.compile(rf"(?<![\w.+@~-])(?:[A-Za-z]:)?(?:[/\\]{_SEGMENT})+[/\\]?"), "<path>"),
    (re.compile(r"(?<![\w.+@~-])(?:[\w.+@~-]+[/\\])+(?=[\w+-]+\.\w)"), ""),
    (re.compile(r"\b[0-9a-f]{12,64}\b", re.I), "<hash>"),
    (re.compile(r"\d+(?:\.\d+)?"), "<n>"),
    (re.compile(r"[ \t]+"), " "),
)
_LINES = 200
_LINE = 500


def normalise_trace(text: str) -> str:
    """The end of a stack trace or message without paths, line numbers, addresses, times and ids."""
    text = "\n".join(line[:_LINE] for line in text.strip().splitlines()[-_LINES:])
    for pattern, stand_in in _NOISE:
        text = pattern.sub(stand_in, text)
    return "\n".join(line.strip() for line in text.splitlines())
