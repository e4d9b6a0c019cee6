"""Where a definition begins with the decorators or attributes above it."""

import re

from codeplane.code.languages.contract import Contract
from codeplane.code.model import Definition
from codeplane.query.compare.source_scan import start_of, template_from

_MARKED = re.compile(rb"[ \t]*(?:@|#\[)")
_ENDED = re.compile(rb"[)\]}\s,]*$")
_FARTHEST = 4000


def marked_from(rules: Contract, text: bytes, one: Definition) -> int:
    """That place; where nothing stands above it, its own beginning."""
    if rules.templates:
        return template_from(text, one)
    if rules.bare_values and one.start == one.name_at:
        return start_of(rules, text, one)
    line = text.rfind(b"\n", 0, one.start) + 1
    if text[line : one.start].strip() and not text[line : one.start].strip().startswith((b"export", b"@")):
        return one.start
    found, at, waiting = one.start, line, False
    while at > 0:
        above = text.rfind(b"\n", 0, at - 1) + 1
        said = text[above : at - 1].rstrip(b"\r")
        if _MARKED.match(said):
            found, waiting = above + len(said) - len(said.lstrip()), False
        elif not said.strip() or said.lstrip().startswith((b"//", b"# ")):
            if not said.strip():
                break
        elif waiting or (_ENDED.match(said[-1:]) and _closes(text[above:at])):
            waiting = True
        else:
            break
        if one.start - above > _FARTHEST:
            break
        at = above
    return found


def _closes(said: bytes) -> bool:
    """Whether a line ends brackets that an earlier one opened."""
    return said.strip()[:1] in (b")", b"]", b"}") and said.count(b"(") < said.count(b")")
