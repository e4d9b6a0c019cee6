"""Edits of `__all__`."""

import re

from codeplane.code.model import Facts
from codeplane.refactor.move.span import Span, line_end, line_start, past_newline

_AFTER = re.compile(rb"[ \t]*,[ \t]*")


def remove_from_all(facts: Facts, text: bytes, name: str) -> list[Span]:
    """Return the spans that remove a name from every `__all__` of a file."""
    found = []
    for export in facts.exports:
        if export.evidence != "all" or export.name != name:
            continue
        start, end = export.at - 1, export.at + len(name.encode()) + 1
        if text[start : start + 1] not in (b"'", b'"') or text[end - 1 : end] != text[start : start + 1]:
            continue
        line, until = line_start(text, start), line_end(text, end)
        after = _AFTER.match(text, end)
        rest = text[after.end() if after else end : until].strip()
        if not text[line:start].strip() and (not rest or rest.startswith(b"#")):
            found.append(Span(start=line, end=past_newline(text, until)))
        elif after is not None:
            found.append(Span(start=start, end=after.end()))
        else:
            before = re.compile(rb",\s*\Z").search(text[max(0, start - 200) : start])
            begin = start - len(before[0]) if before else start
            found.append(Span(start=begin, end=end))
    return found


def add_to_all(facts: Facts, text: bytes, name: str) -> list[Span]:
    """Return the span that appends a name to a file's `__all__`, if it has one."""
    listed = [export for export in facts.exports if export.evidence == "all"]
    if not listed:
        return []
    last = listed[-1]
    end = last.at + len(last.name.encode()) + 1
    quote = text[end - 1 : end].decode()
    line = line_start(text, last.at)
    before = text[line : last.at - 1]
    if not before.strip():
        return [Span(start=end, end=end, new=f",\n{before.decode()}{quote}{name}{quote}")]
    return [Span(start=end, end=end, new=f", {quote}{name}{quote}")]
