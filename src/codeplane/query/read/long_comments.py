"""The lines of long comments that say no more than their first ones."""

import re
from collections.abc import Collection, Sequence

from codeplane.code.languages.comment_syntax import CommentSyntax

# Of a comment of so many lines the first are shown: they say what the rest explains.
_LONG, _HEAD = 6, 2
_QUOTES = re.compile(rb"[a-zA-Z]{0,2}(\"{3}|'{3})")


def long_comments(
    rows: Sequence[bytes], syntax: CommentSyntax, passed_over: Collection[int], docstring: int
) -> list[tuple[int, int]]:
    """The first and last rows, from 0, of what long comments and the string of the row `docstring` could do without."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(rows):
        end = at if at in passed_over else _end_of_comment(rows, at, syntax, at == docstring)
        if end - at >= _LONG:
            # A row that only closes a comment is shown, so that what comes after it does not look like a part.
            closes = not re.search(rb"\w", rows[end - 1])
            found.append((at + _HEAD, end - 1 - closes))
        at = max(end, at + 1)
    return found


def _end_of_comment(rows: Sequence[bytes], at: int, syntax: CommentSyntax, is_docstring: bool) -> int:
    """The row after the comment that begins at a row, or that row."""
    row = rows[at].lstrip()
    opening, closing = next(((begin, end) for begin, end in syntax.blocks if row.startswith(begin)), (b"", b""))
    if is_docstring and (quotes := _QUOTES.match(row)):
        opening, closing = quotes[0], quotes[1]
    end = at
    if closing:
        rest = row[len(opening) :]
        while closing not in rest and end + 1 < len(rows):
            end += 1
            rest = rows[end]
        return end + 1
    while end < len(rows) and syntax.lines and rows[end].lstrip().startswith(syntax.lines):
        end += 1
    return end
