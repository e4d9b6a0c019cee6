"""The statements of a file that define a symbol, and how to remove them."""

import re
from dataclasses import dataclass

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Definition, Facts
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.move.python_statement import remove_statement
from codeplane.refactor.move.span import Span, is_alone, line_start
from codeplane.refactor.move.top_statements import InnerStatement, statement_around, whole_lines, with_blank_lines

_PARAM, _IMPORTED, _GLOBAL, _NONLOCAL = (
    REASONS.index(reason) for reason in ("PARAM", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL")
)
# `@Name(arguments)` and `#[name]` on a line of their own.
_ATTRIBUTE = re.compile(rb"@[\w.:]+(?:[ \t]*\(.*\))?|#!?\[.*\]")
_COMPOUND = frozenset(
    {"for_statement", "while_statement", "with_statement", "if_statement", "try_statement", "match_statement",
     "import_statement", "import_from_statement", "delete_statement", "for_in_statement", "return_statement"}
)  # fmt: skip
_VALUES = frozenset({"variable", "constant", "local"})
_BRACED = frozenset({"class_body", "statement_block", "program", "module", "interface_body", "object_type"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One statement that defines a symbol: its text, and the span that removes it."""

    start: int
    end: int
    span: Span
    computes: bool
    """Whether it calls something that would no longer be called."""


def sites(world: World, bound: Bound, definition: Definition | None = None) -> list[Site]:
    """Return every statement that defines a symbol; NotRefactorable names one that cannot be removed.

    `definition` tells which one is meant of methods that name their receivers, since these share a scope.
    """
    facts, text = world.facts(bound.file), world.text(bound.file)
    assert facts is not None
    grammar = world.language(facts).grammar
    found: dict[int, InnerStatement] = {}
    for at, reason in _places(facts, bound, definition):
        if reason == _PARAM:
            _refuse(bound, text, at, "it is a parameter", "change the function's parameters by hand")
        if reason in (_IMPORTED, _GLOBAL, _NONLOCAL):
            _refuse(bound, text, at, "it is not defined by this statement", "name the place that defines it")
        candidate = statement_around(text, grammar, at)
        if (
            candidate is None
            or candidate.kind in _COMPOUND
            or candidate.names > 1
            or (candidate.has_body and _is_value(facts, at))
            or not _binds_only(facts, bound, candidate)
            or _is_part(facts, bound, candidate, at)
        ):
            _refuse(bound, text, at, "the statement does more than define it", "split the statement first")
        assert candidate is not None
        found[candidate.start] = candidate
    if not found:
        raise NotRefactorable(f"{bound.name} has no definition in {path_text(bound.file)} that can be taken out")
    gone = [(statement.start, statement.end) for statement in found.values()]
    return [_site(world, bound, facts, text, statement, gone) for statement in found.values()]


def _places(facts: Facts, bound: Bound, definition: Definition | None) -> list[tuple[int, int]]:
    rows = facts.rows_by_binding.get((bound.scope, bound.name), [])
    by_kind = LANGUAGES[facts.language].classes.members_by_kind
    if by_kind and definition is not None:
        kinds = ("method",) if definition.kind == "method" else (definition.kind,)
        among = (facts.definitions[index] for index in facts.definitions_by_binding.get((bound.scope, bound.name), []))
        return sorted((candidate.name_at, -1) for candidate in among if candidate.kind in kinds)
    found = {facts.bind_at(row): facts.bind_reason(row) for row in rows}
    for index in facts.definitions_by_binding.get((bound.scope, bound.name), []):
        candidate = facts.definitions[index]
        if rows or definition is None or candidate.path == definition.path:
            found.setdefault(candidate.name_at, -1)
    return sorted(found.items())


def _binds_only(facts: Facts, bound: Bound, statement: InnerStatement) -> bool:
    """Whether a statement binds no other name in that scope."""
    among = zip(facts.bind_names, facts.binds.tolist(), strict=True)
    names = {
        name for name, (scope, at, _, _) in among if scope == bound.scope and statement.start <= at < statement.end
    }
    return names <= {bound.name}


def _is_value(facts: Facts, at: int) -> bool:
    """Whether what is named at a place is a variable, not something with a body of its own."""
    return all(each.kind in _VALUES for each in facts.definitions if each.name_at == at)


def _is_part(facts: Facts, bound: Bound, statement: InnerStatement, at: int) -> bool:
    """Whether the statement defines another symbol, of whose value this one is a part."""
    return any(
        outer.name != bound.name and statement.start <= outer.start <= at < outer.end and outer.name_at != at
        for outer in facts.definitions
    )


def _site(
    world: World, bound: Bound, facts: Facts, text: bytes, statement: InnerStatement, gone: list[tuple[int, int]]
) -> Site:
    indented = world.language(facts).indented
    computes = (
        statement.kind in ("assignment", "expression_statement", "lexical_declaration")
        and b"(" in text[statement.start : statement.end]
    )
    if not is_alone(text, statement.start, statement.end):
        if not indented:
            _refuse(bound, text, statement.start, "something else is on its line", "put it on a line of its own first")
        return Site(
            start=statement.start,
            end=statement.end,
            span=remove_statement(text, statement.start, statement.end, gone),
            computes=computes,
        )
    comments = world.language(facts).comments
    # A line that begins with # is an attribute in Rust and PHP, and what the preprocessor reads in C and C#.
    marks = comments.lines if indented else (*comments.openings, b"*", b"@", b"#[")
    begin, until = _lines(facts, text, statement.start, statement.end, marks)
    if indented and statement.block == "block" and remove_statement(text, statement.start, statement.end, gone).new:
        return Site(
            start=statement.start,
            end=statement.end,
            span=Span(start=statement.start, end=statement.end, new="pass"),
            computes=computes,
        )
    if not indented and statement.alone and statement.block not in _BRACED:
        _refuse(bound, text, statement.start, "its block would be empty", "delete the block with it by hand")
    start, end = with_blank_lines(text, begin, until)
    return Site(start=statement.start, end=statement.end, span=Span(start=start, end=end), computes=computes)


def _lines(facts: Facts, text: bytes, start: int, end: int, marks: tuple[bytes, ...]) -> tuple[int, int]:
    """Return the whole lines with the comments above, which in a block are indented like the statement."""
    first, until = whole_lines(text, start, end, marks)
    begin = line_start(text, start)
    indent = text[begin:start]
    while begin > 0:
        before = line_start(text, begin - 1)
        line = text[before:begin]
        inside = indent and line.startswith(indent) and line[len(indent) :].lstrip(b" ").startswith(marks)
        if not (inside or before >= first) or not _has_no_code(facts, text, before, begin):
            break
        begin = before
    return begin, until


def _has_no_code(facts: Facts, text: bytes, start: int, end: int) -> bool:
    """Whether a line holds nothing but comments, or an attribute of what stands below it."""
    if _ATTRIBUTE.fullmatch(text[start:end].strip()):
        return True
    at = start
    while at < end:
        if text[at : at + 1].isspace():
            at += 1
        elif facts.in_text(at):
            at = max(at + 1, facts.text_span(at)[1])
        else:
            return False
    return True


def _refuse(bound: Bound, text: bytes, at: int, why: str, hint: str) -> None:
    line, column = text.count(b"\n", 0, at) + 1, at - line_start(text, at) + 1
    raise NotRefactorable(
        f"{bound.name} cannot be taken out of {path_text(bound.file)}:{line}: {why}",
        hint=hint,
        details={"places": [{"path": bound.file, "line": line, "column": column, "why": why}]},
    )
