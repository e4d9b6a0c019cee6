"""Symbols of a checkout by kind, drawn by a seed from its own definitions and bindings."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.references import Lines
from codeplane.code.facts.extract import MAX_PARSED, extractor
from codeplane.code.languages.registry import languages
from codeplane.code.model import REASONS, Facts
from codeplane.index.path_kinds import is_copy, is_test

KINDS = ("function", "type", "method", "field", "constant", "variable", "local")
_TYPES = frozenset({"class", "struct", "interface", "enum", "trait", "type", "union", "record", "alias", "concept"})
_TYPES |= {"annotation", "protocol", "object", "delegate"}
_KINDS = {"method": "method", "field": "field", "property": "field", "constant": "constant"}
_KINDS |= {"enum_member": "constant", "variable": "variable", "macro": "constant", **dict.fromkeys(_TYPES, "type")}
_LOCAL = frozenset({REASONS.index("PARAM"), REASONS.index("LOCAL_ASSIGN")})
_NAME = re.compile(r"[A-Za-z]\w*")
# Called by the language itself.
_FIXED = frozenset({"main", "init", "self", "this", "cls"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A symbol to ask about; lines and columns count from 1."""

    kind: str
    name: str
    path: str
    line: int
    column: int

    @property
    def place(self) -> str:
        """How an operation takes it."""
        return f"{self.path}:{self.line}:{self.column}"


def all_symbols(root: Path, counts: Callable[[str], bool]) -> list[Symbol]:
    """Every symbol of the files that count, tests and copies left out."""
    found = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if not file.is_file() or not counts(path) or is_test(path) or is_copy(path):
            continue
        text = file.read_bytes()
        facts = parsed_facts(path, text)
        lines, seen = Lines(text), set()
        for kind, name, at in _named(facts) if facts is not None else ():
            if at in seen or name in _FIXED or not _NAME.fullmatch(name):
                continue
            seen.add(at)
            _, line, column = lines.place(path, at)
            found.append(Symbol(kind=kind, name=name, path=path, line=line + 1, column=column + 1))
    return found


def parsed_facts(path: str, text: bytes) -> Facts | None:
    """The facts of a file, parsed in this process."""
    language = languages().of(path)
    return extractor(language).facts(text, set()) if language is not None and len(text) <= MAX_PARSED else None


def _named(facts: Facts) -> Iterator[tuple[str, str, int]]:
    for one in facts.definitions:
        inside = facts.scopes[one.scope].kind
        kind = _KINDS.get(one.kind, "")
        if one.kind == "function":
            kind = "method" if inside == "class" else "function"
        if kind == "field" and one.name.isupper():
            kind = "constant"
        if kind:
            yield kind, one.name, one.name_at
    for row, name in enumerate(facts.bind_names):
        if facts.bind_reason(row) in _LOCAL:
            inside = facts.scopes[facts.bind_scope(row)].kind
            yield "variable" if inside in ("file", "namespace") else "local", name, facts.bind_at(row)


def drawn(symbols: Sequence[Symbol], count: int, seed: int) -> list[Symbol]:
    """`count` symbols, as many of each kind as there are or an equal share; the same for the same seed."""
    by_kind: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        by_kind[symbol.kind].append(symbol)
    chance = random.Random(seed)
    for kind in KINDS:
        chance.shuffle(by_kind[kind])
    chosen: list[Symbol] = []
    while len(chosen) < count and any(by_kind.values()):
        for kind in KINDS:
            if by_kind[kind] and len(chosen) < count:
                chosen.append(by_kind[kind].pop())
    return sorted(chosen, key=lambda one: KINDS.index(one.kind))


def listed(lines: Sequence[str], root: Path) -> list[Symbol]:
    """Symbols from lines as a report prints them: a kind, `path:line:column`, anything after."""
    found = []
    for text in lines:
        match = re.search(r"(?:^|\s)(\S+):(\d+):(\d+)", text)
        if match is None:
            continue
        path, line, column = match[1], int(match[2]), int(match[3])
        row = (root / path).read_text("utf-8", "replace").split("\n")[line - 1]
        name = re.match(r"\w+", row[column - 1 :])
        kind = next((word for word in text.split() if word in KINDS), "function")
        if name is not None:
            found.append(Symbol(kind=kind, name=name[0], path=path, line=line, column=column))
    return found
