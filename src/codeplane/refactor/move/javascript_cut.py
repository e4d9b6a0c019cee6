"""Cutting a top-level symbol out of a JavaScript or TypeScript module, with its exports."""

from dataclasses import dataclass

from codeplane.code.entity import Bound
from codeplane.code.model import REASONS, Facts
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.move.python_cut import Piece
from codeplane.refactor.move.span import is_alone, line_start
from codeplane.refactor.move.top_statements import top_statements, whole_lines

_IMPORTED = REASONS.index("IMPORT_ALIAS")
_DECLARED = frozenset(
    {
        "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration",
        "lexical_declaration", "variable_declaration", "type_alias_declaration", "interface_declaration",
        "enum_declaration", "function_signature",
    }
)  # fmt: skip
_TYPES = frozenset({"type_alias_declaration", "interface_declaration"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCut:
    """The lines to cut; `exported`: the names under which it is exported, which may include `default`."""

    pieces: tuple[Piece, ...]
    exported: tuple[str, ...]
    declared: bool
    """Whether the declaration itself has `export`."""
    is_type: bool


def cut_script_symbol(bound: Bound, facts: Facts, text: bytes, grammar: str) -> ScriptCut:
    """Return the statements that declare a symbol; NotRefactorable names the place that does more than that."""
    if bound.scope != 0:
        raise NotRefactorable(
            f"{bound.name} is not at the top of {path_text(bound.file)}",
            hint="only what a module declares itself can go",
        )
    places = {facts.bind_at(row): facts.bind_reason(row) for row in facts.rows_by_binding.get((0, bound.name), [])}
    for index in facts.definitions_by_binding.get((0, bound.name), []):
        places.setdefault(facts.definitions[index].name_at, -1)
    listed = top_statements(text, grammar)
    found: dict[int, Piece] = {}
    kinds: set[str] = set()
    for at, reason in sorted(places.items()):
        top = next((statement for statement in listed if statement.start <= at < statement.end), None)
        kind = top.inner if top is not None and top.kind == "export_statement" else top.kind if top is not None else ""
        if (
            top is None
            or reason == _IMPORTED
            or kind not in _DECLARED
            or not _declares_only(bound, facts, top.start, top.end)
        ):
            _refuse(bound, text, at, "the statement does more than declare it", "split the statement first")
        assert top is not None
        if not is_alone(text, top.start, top.end) and b"//" not in text[top.end : top.end + 200].split(b"\n")[0]:
            _refuse(bound, text, at, "another statement is on its line", "put it on a line of its own first")
        begin, until = whole_lines(text, top.start, top.end, (b"//", b"/*", b"*", b"@"))
        found[top.start] = Piece(begin=begin, until=until, start=top.start, end=top.end)
        kinds.add(kind)
    if not found:
        raise NotRefactorable(f"{bound.name} is not declared in {path_text(bound.file)} by a statement of its own")
    pieces = tuple(found[start] for start in sorted(found))
    exported: list[str] = []
    declared = False
    for export in facts.exports:
        inside = any(piece.start <= export.at < piece.end for piece in pieces)
        if export.source or (export.local != bound.name and not inside):
            continue
        if export.evidence in ("module_exports", "commonjs") or (export.evidence == "default" and not inside):
            _refuse(
                bound,
                text,
                export.at,
                "it is exported by an assignment or a statement of its own",
                "export it where it is declared",
            )
        declared = declared or inside
        exported.append(export.name)
    return ScriptCut(pieces=pieces, exported=tuple(exported), declared=declared, is_type=kinds <= _TYPES)


def _declares_only(bound: Bound, facts: Facts, start: int, end: int) -> bool:
    among = zip(facts.bind_names, facts.binds.tolist(), strict=True)
    return {name for name, (scope, at, _, _) in among if not scope and start <= at < end} <= {bound.name}


def _refuse(bound: Bound, text: bytes, at: int, why: str, hint: str) -> None:
    line = text.count(b"\n", 0, at) + 1
    raise NotRefactorable(
        f"{bound.name} cannot be cut out of {path_text(bound.file)}:{line}: {why}",
        hint=hint,
        details={"places": [{"path": bound.file, "line": line, "column": at - line_start(text, at) + 1, "why": why}]},
    )
