"""The names in the doctests of one text: where each stands, and what the doctests themselves bind."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

_PROMPT = re.compile(rb"(?m)^([ \t>*#]*)>>> ?(.*)$")
_MORE = re.compile(rb"^[ \t>*#]*\.\.\.(?: (.*)|)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse:
    """One place of a name; offsets are bytes of the text."""

    at: int
    kind: Literal["name", "member", "import", "keyword", "broken"]
    before: tuple[str, ...] = ()
    """The dotted name in front of a member, or that a keyword is given to; of an import, the module and the name."""
    made: bool = False
    """Whether what is in front is called, so that the member is one of its result."""


@dataclass(slots=True, kw_only=True)
class DoctestNames:
    """What the doctests of one text say about one name."""

    uses: list[NameUse] = field(default_factory=list)
    bound: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    """What imports bind names to, a module or a module and a name; nothing for what is defined or assigned."""
    made: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    """The dotted names whose calls are assigned to a name; nothing for other values."""
    assigned: Counter[str] = field(default_factory=Counter)
    """How often each name gets a value that is no import."""
    names: set[str] = field(default_factory=set)
    """All names in the code."""

    def maker(self, name: str) -> tuple[str, ...]:
        """Return the dotted name whose call is all that a name ever gets; nothing if there is more."""
        made = self.made.get(name, [])
        only = self.bound.get(name) == {()} and self.assigned[name] == len(made)
        return made[0] if only and len(set(made)) == 1 else ()

    def bind(self, name: str, source: tuple[str, ...] = ()) -> None:
        """Note what a name is bound to."""
        self.names.add(name)
        self.bound.setdefault(name, set()).add(source)
        self.assigned[name] += not source


def read_doctests(text: bytes, name: str) -> DoctestNames:
    """Read the doctests of a text, which share their names, and find the places of one name in them."""
    found = DoctestNames()
    for lines in _examples(text):
        _read_example(found, lines, name)
    return found


def _examples(text: bytes) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the lines of each example, as the place of their code and the code."""
    lines: list[tuple[int, bytes]] = []
    at = 0
    for line in text.split(b"\n"):
        shown = line.rstrip(b"\r")
        if opened := _PROMPT.match(shown):
            if lines:
                yield lines
            lines = [(at + opened.start(2), opened[2])]
        elif lines and (more := _MORE.match(shown)):
            lines.append((at + (more.start(1) if more[1] is not None else len(shown)), more[1] or b""))
        elif lines:
            yield lines
            lines = []
        at += len(line) + 1
    if lines:
        yield lines


def _read_example(found: DoctestNames, lines: list[tuple[int, bytes]], name: str) -> None:
    try:
        tree = ast.parse(b"\n".join(code for _, code in lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        word = re.compile(rb"(?<![\w\x80-\xff])%s(?![\w\x80-\xff])" % re.escape(name.encode()))
        found.uses += [
            NameUse(at=start + match.start(), kind="broken") for start, code in lines for match in word.finditer(code)
        ]
        return
    length = len(name.encode())

    def place(line: int, column: int) -> int:
        return lines[line - 1][0] + column

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.names.add(node.id)
            if not isinstance(node.ctx, ast.Load):
                found.bind(node.id)
            if node.id == name:
                found.uses.append(NameUse(at=place(node.lineno, node.col_offset), kind="name"))
        elif isinstance(node, ast.Attribute) and node.attr == name and node.end_lineno is not None:
            called = isinstance(node.value, ast.Call)
            before = _dotted(node.value.func if isinstance(node.value, ast.Call) else node.value)
            at = place(node.end_lineno, (node.end_col_offset or 0) - length)
            found.uses.append(NameUse(at=at, kind="member", before=before, made=called))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.bind(node.name)
        elif isinstance(node, ast.arg):
            found.bind(node.arg)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                found.bind(alias.asname or alias.name, (module, alias.name))
                if alias.name == name:
                    at = place(alias.lineno, alias.col_offset)
                    found.uses.append(NameUse(at=at, kind="import", before=(module, name)))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found.bind(alias.asname or first, (alias.name if alias.asname else first,))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made = _dotted(node.value.func) if isinstance(node.value, ast.Call) else ()
            found.made.setdefault(node.targets[0].id, []).append(made)
        elif isinstance(node, ast.Call):
            found.uses += [
                NameUse(at=place(given.lineno, given.col_offset), kind="keyword", before=_dotted(node.func))
                for given in node.keywords
                if given.arg == name
            ]


def _dotted(node: ast.expr) -> tuple[str, ...]:
    """Return the parts of a dotted name; none for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (*reversed([*parts, node.id]),) if isinstance(node, ast.Name) else ()
