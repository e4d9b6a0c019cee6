"""Rewrites of matches: metavariables filled in, lines indented to fit."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeplane.kernel.errors import InvalidArgument
from codeplane.refactor.structural.grammar import extent, nodes
from codeplane.refactor.structural.layout import place_list
from codeplane.refactor.structural.pattern import METAVARIABLE, StructuralPattern
from codeplane.refactor.structural.search import Captured, Match

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_INDENT = re.compile(r"[ \t]*")
# Nodes whose line starts are part of their content.
_VERBATIM = re.compile(r"string|template|heredoc|raw|comment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The new text, and the spans of the single pieces that were copied into it."""

    text: str
    pieces: tuple[tuple[int, int], ...]


class Rewrite:
    """A rewrite that fits its pattern."""

    def __init__(self, text: str, pattern: StructuralPattern) -> None:
        self._text = text.replace("\r\n", "\n")
        for found in METAVARIABLE.finditer(text):
            _refuse_unknown(found, pattern)

    def of(self, text: str, match: Match) -> Rewritten:
        """Return the new text of a match in its file."""
        newline = "\r\n" if "\r\n" in text else "\n"
        base = _indent_at(text, match.start)
        new_text, pieces, done = "", [], 0
        for found in METAVARIABLE.finditer(self._text):
            if found.start() < done:
                continue
            new_text += _indent(self._text[done : found.start()], base, newline, ends=False)
            done = found.end()
            captured = match.captures.get(found["many"] or found["one"])
            own = _INDENT.match(self._text[self._text.rfind("\n", 0, found.start()) + 1 :])
            indent = base + (own[0] if own else "")
            if found["one"]:
                if captured is not None and captured.nodes:
                    start = len(new_text)
                    new_text += _copy_captured(text, captured, captured.start, captured.end, indent)
                    pieces.append((start, len(new_text)))
                continue
            put = place_list(text, captured, new_text, self._text[done:])
            new_text, done = put.before, done + put.skipped
            if captured is not None and captured.nodes:
                # Copied with their lines, pieces keep their depth below the match.
                new_text += _copy_captured(
                    text, captured, put.start, put.end, indent, of=match.start if put.moved else None
                )
        new_text += _indent(self._text[done:], base, newline, ends=True)
        return Rewritten(text=new_text, pieces=tuple(pieces))


def _refuse_unknown(found: re.Match[str], pattern: StructuralPattern) -> None:
    single, many = found["one"], found["many"]
    known = ", ".join([*(f"${name}" for name in pattern.ones), *(f"$$${name}" for name in pattern.lists)])
    hint = f"the pattern captures {known}" if known else "the pattern captures nothing"
    if single and single in pattern.lists:
        raise InvalidArgument(f"${single} stands for several pieces: write $$${single}", hint=hint)
    if many and many in pattern.ones:
        raise InvalidArgument(f"$$${many} stands for one piece: write ${many}", hint=hint)
    if (single and single not in pattern.ones) or (not single and many not in pattern.lists):
        raise InvalidArgument(f"the rewrite has {found[0]}, which the pattern does not capture", hint=hint)


def _indent(text: str, base: str, newline: str, *, ends: bool) -> str:
    """Indent lines of the rewrite like the match; `ends`: nothing follows on the last line."""
    first, *rest = text.split("\n")
    last = len(rest) - 1
    moved = (base + line if line.strip() or (at == last and not ends) else line for at, line in enumerate(rest))
    return newline.join([first, *moved])


def _copy_captured(text: str, captured: Captured, first: int, end: int, indent: str, *, of: int | None = None) -> str:
    """Copy a captured text with its other lines indented again; strings stay unchanged."""
    copied = text[first:end]
    old = _indent_at(text, first if of is None else of)
    if "\n" not in copied or old == indent:
        return copied
    fixed = [span for node in captured.nodes for span in _verbatim(node)]
    lines, at = [], first
    for line in copied.split("\n"):
        inside = any(start < at < last for start, last in fixed)
        # Something follows on the last line, even if it has only blanks so far.
        moved = at > first and not inside and line.startswith(old) and (line.strip() or at + len(line) == end)
        lines.append(indent + line[len(old) :] if moved else line)
        at += len(line) + 1
    return "\n".join(lines)


def _verbatim(node: "SgNode") -> list[tuple[int, int]]:
    return [
        extent(descendant)
        for descendant in nodes(node)
        if _VERBATIM.search(descendant.kind()) and "\n" in descendant.text()
    ]


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of a place's line."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return found[0][: max(0, at - (text.rfind("\n", 0, at) + 1))] if found else ""
