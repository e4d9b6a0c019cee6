"""Cutting a top-level symbol out of a Python module, with its decorators and comments."""

from dataclasses import dataclass

from codeplane.code.entity import Bound
from codeplane.code.model import REASONS, Facts
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.move.span import is_alone, line_start
from codeplane.refactor.move.top_statements import TopStatement, top_statements, whole_lines

_IMPORTED, _GLOBAL = REASONS.index("IMPORT_ALIAS"), REASONS.index("GLOBAL")
_WHOLE = frozenset(
    {
        "decorated_definition",
        "function_definition",
        "class_definition",
        "expression_statement",
        "assignment",
        "augmented_assignment",
        "type_alias_statement",
    }
)
_BRANCHES = frozenset({"if_statement", "try_statement"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Lines to cut; `start` and `end` are those of the statement in them."""

    begin: int
    until: int
    start: int
    end: int


def cut_symbol(bound: Bound, facts: Facts, text: bytes) -> list[Piece]:
    """Return the statements that define a symbol; NotRefactorable names the place that does more than that."""
    if bound.scope != 0:
        raise NotRefactorable(
            f"{bound.name} is not at the top of {path_text(bound.file)}",
            hint="only what a module defines itself can go",
        )
    rows = facts.rows_by_binding.get((0, bound.name), [])
    found: dict[int, Piece] = {}
    listed = top_statements(text, "python")
    for row in rows:
        at, reason = facts.bind_at(row), facts.bind_reason(row)
        if reason == _IMPORTED:
            _refuse(bound, text, at, "it is imported here, not defined", "name the file that defines it")
        top = next((statement for statement in listed if statement.start <= at < statement.end), None)
        if top is None or not _is_whole(bound, facts, top):
            _refuse(bound, text, at, "the statement does more than define it", "split the statement first")
        assert top is not None
        if not is_alone(text, top.start, top.end) or line_start(text, top.start) != top.start:
            _refuse(bound, text, at, "another statement is on its line", "put it on a line of its own first")
        begin, until = whole_lines(text, top.start, top.end, (b"#",))
        found[top.start] = Piece(begin=begin, until=until, start=top.start, end=top.end)
    for name, (scope, at, reason, _) in zip(facts.bind_names, facts.binds.tolist(), strict=True):
        outside = not any(piece.start <= at < piece.end for piece in found.values())
        if name == bound.name and reason == _GLOBAL and scope and outside:
            _refuse(bound, text, at, "a function assigns to it with `global`", "let the function go without it first")
    if not found:
        raise NotRefactorable(f"{bound.name} is not defined in {path_text(bound.file)} by a statement of its own")
    return [found[start] for start in sorted(found)]


def _is_whole(bound: Bound, facts: Facts, top: TopStatement) -> bool:
    """Whether a statement binds only this name of the module."""
    if top.kind not in _WHOLE and top.kind not in _BRANCHES:
        return False
    among = zip(facts.bind_names, facts.binds.tolist(), strict=True)
    return all(name == bound.name for name, (scope, at, _, _) in among if not scope and top.start <= at < top.end)


def _refuse(bound: Bound, text: bytes, at: int, why: str, hint: str) -> None:
    line = text.count(b"\n", 0, at) + 1
    raise NotRefactorable(
        f"{bound.name} cannot be cut out of {path_text(bound.file)}:{line}: {why}",
        hint=hint,
        details={"places": [{"path": bound.file, "line": line, "column": at - line_start(text, at) + 1, "why": why}]},
    )
