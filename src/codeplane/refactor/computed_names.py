"""Names that code puts together at run time: `getattr(self, f"on_{kind}")` may reach every `on_…`."""

import re
from collections.abc import Iterator

from codeplane.code.languages.expression import closing_bracket
from codeplane.refactor.draft import Danger
from codeplane.refactor.rename.rename_context import RenameContext

_FAR = 300
_STRING = re.compile(rb"""([A-Za-z]{0,2})("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)""")
_HOLE = re.compile(rb"\$?\{[^{}]*\}|%[sdr]")


def computed_name_dangers(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for a computed access whose written part fits the subject: it may be reached there."""
    subject = context.subject
    if subject.sort not in ("top", "member"):
        return
    paths = dict(context.files(context.name))
    for base in context.resolver.line_of(subject.owner)[0] if subject.owner is not None else ():
        facts = context.world.facts(base.file)
        if facts is not None:
            paths[base.file] = facts
    for path, facts in paths.items():
        text = context.world.text(path)
        for access in facts.dynamic:
            if access.literal != context.name and fits_computed(text, access.at, context.name.encode()):
                what = f"{context.name} fits a name that is put together there"
                yield Danger(kind="computed_name", what=what, path=path, offset=access.at)
                return


def fits_computed(text: bytes, at: int, name: bytes) -> bool:
    """Whether a name begins and ends as the one that an access at a place computes; False if none of it is written."""
    opened = min((found for sign in (b"(", b"[") if (found := text.find(sign, at, at + _FAR)) >= 0), default=-1)
    closed = closing_bracket(text, opened, most=_FAR) if opened >= 0 else None
    if closed is None:
        return False
    argument = text[opened + 1 : closed]
    if text[opened : opened + 1] == b"(":
        argument = _second(argument)
    pieces = list(_STRING.finditer(argument))
    if not pieces:
        return False
    first = _HOLE.split(pieces[0][2][1:-1])[0] if not argument[: pieces[0].start()].strip() else b""
    last = _HOLE.split(pieces[-1][2][1:-1])[-1] if not argument[pieces[-1].end() :].strip() else b""
    if not first and not last:
        return False
    is_whole = len(pieces) == 1 and first == last == pieces[0][2][1:-1]
    return not is_whole and name.startswith(first) and name.endswith(last) and len(name) >= len(first) + len(last)


def _second(arguments: bytes) -> bytes:
    """The second of the arguments of a call."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(arguments):
        depth += (char in b"([{") - (char in b")]}")
        if char == ord(",") and not depth:
            parts.append(arguments[start:place])
            start = place + 1
    parts.append(arguments[start:])
    return parts[1].strip() if len(parts) > 1 else b""
