"""Signatures of definitions, and their documentation."""

import re

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.query.search.hit import decode

MAX_SIGNATURE = 160
_MAX_DOC = 600
_MAX_OPENING = 1_000
_DOCSTRING = re.compile(rb"""\s*(?:\#[^\n]*\n\s*)*[rRuU]?(\"{3}|'{3}|"|')(?P<text>.*?)(?:\1|\Z)""", re.DOTALL)
# What may stand before a definition on its line: export, pub, type …
_PREFIX = re.compile(rb"[\w\s()]*$")
_MARKS = re.compile(r"^\s*(?:/\*\*?|\*/|\*(?!/)|///?!?|#+!?|--)\s?|\s*\*/\s*$")
_TAG = re.compile(r"^(?:[@:\\]\w|Args:|Parameters:?$|Returns:|Raises:)")
_OPENING = re.compile(r"\s*(?:=>|[:{=])\s*$")
_VALUES = frozenset({"variable", "constant", "field", "property"})


def signature(facts: Facts, text: bytes, definition: Definition) -> str:
    """A definition's header on one line, without comments."""
    end = definition.body if definition.body > definition.name_at and definition.kind not in _VALUES else definition.end
    # A value may go on for pages; what it is called and how it begins is enough.
    end = min(end, definition.start + 4 * MAX_SIGNATURE)
    if definition.kind in _VALUES and (stop := text.find(b"\n", definition.start, end)) >= 0:
        end = stop
    kept, at = b"", definition.start
    openings = LANGUAGES[facts.language].comments.openings
    for first, last in facts.text_spans(definition.start, end):
        if text.startswith(openings, first):
            kept += text[at:first]
            at = max(at, last)
    line = " ".join(decode(kept + text[at:end]).split())
    if definition.kind not in _VALUES:
        line = _OPENING.sub("", line)
    line = re.sub(r"(?<=[(\[]) | (?=[)\]])|,(?= ?[)\]])", "", line)
    return line if len(line) <= MAX_SIGNATURE else f"{line[:MAX_SIGNATURE]}…"


def doc(facts: Facts, text: bytes, definition: Definition) -> str:
    """The first paragraph of a definition's docstring or comment, or an empty string."""
    if LANGUAGES[facts.language].docstrings:
        return _inside(text, definition) if definition.kind not in _VALUES else ""
    return _above(facts, text, definition)


def opening(facts: Facts, text: bytes, definition: Definition, *, most: int) -> tuple[str, ...]:
    """The first lines of a definition's body, each clipped."""
    start = definition.body
    if LANGUAGES[facts.language].docstrings and (docstring := _DOCSTRING.match(text, start, definition.end)):
        start = docstring.end()
    written = decode(text[start : min(definition.end, start + _MAX_OPENING)]).splitlines()
    lines = [line.strip() for line in written if line.strip()]
    return tuple(line if len(line) <= MAX_SIGNATURE else f"{line[:MAX_SIGNATURE]}…" for line in lines[:most])


def first_words(facts: Facts, text: bytes) -> str:
    """The first paragraph of a Python module's docstring, or an empty string."""
    match = _DOCSTRING.match(text, 0, 8 * _MAX_DOC) if LANGUAGES[facts.language].docstrings else None
    return _paragraph(decode(match["text"]).splitlines()) if match else ""


def _inside(text: bytes, definition: Definition) -> str:
    match = _DOCSTRING.match(text, definition.body, min(definition.end, definition.body + 8 * _MAX_DOC))
    return _paragraph(decode(match["text"]).splitlines()) if match else ""


def _above(facts: Facts, text: bytes, definition: Definition) -> str:
    start = text.rfind(b"\n", 0, definition.start) + 1
    if not _PREFIX.match(text, start, definition.start):
        return ""
    comments: list[str] = []
    openings = LANGUAGES[facts.language].comments.openings
    for first, last in reversed(facts.texts[facts.texts[:, 1] <= definition.start][-60:].tolist()):
        if not text.startswith(openings, first):
            break
        # Attributes and decorators may stand between the comment and what it is about.
        gap = [line for line in text[last:start].split(b"\n") if not line.strip().startswith((b"@", b"#["))]
        if b"".join(gap).strip() or len(gap) > 2 or text[text.rfind(b"\n", 0, first) + 1 : first].strip():
            break
        comments.insert(0, decode(text[first:last]))
        start = first
    return _paragraph([_MARKS.sub("", _MARKS.sub("", line)) for line in "\n".join(comments).splitlines()])


def _paragraph(lines: list[str]) -> str:
    kept: list[str] = []
    for line in map(str.strip, lines):
        if (not line and kept) or _TAG.match(line):
            break
        if line:
            kept.append(line)
    text = " ".join(kept)
    return text if len(text) <= _MAX_DOC else f"{text[:_MAX_DOC]}…"
