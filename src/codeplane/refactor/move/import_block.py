"""The import block of a Python file, where new imports are added."""

from collections.abc import Sequence

from codeplane.refactor.move.span import Span, line_end, line_start, past_newline
from codeplane.refactor.move.top_statements import TopStatement, is_type_checking, top_statements

_TEXTS = frozenset({"string", "concatenated_string"})
# As long as a line of most formatters is.
_MAX_LINE = 88


def add_imports(text: bytes, statements: Sequence[str], typed: Sequence[str]) -> list[Span]:
    """Return the spans that add imports to a file; `typed`: imports for type checkers only."""
    statements, typed = _joined_by_module(statements), _joined_by_module(typed)
    listed = top_statements(text, "python")
    spans: list[Span] = []
    block = next((statement for statement in listed if is_type_checking(text, statement)), None)
    plain = list(statements)
    if typed and block is not None:
        last = text.rstrip()[: block.end].rstrip()
        at = past_newline(text, line_end(text, len(last)))
        inner = text[line_start(text, len(last) - 1) : len(last)]
        indent = inner[: len(inner) - len(inner.lstrip())].decode() or "    "
        spans.append(_at(text, at, "".join(f"{indent}{statement}\n" for statement in typed)))
    elif typed and not any(
        statement.is_import and b"TYPE_CHECKING" in text[statement.start : statement.end] for statement in listed
    ):
        plain.append("from typing import TYPE_CHECKING")
    behind = "".join(f"{statement}\n" for statement in plain)
    if typed and block is None:
        behind += "\nif TYPE_CHECKING:\n" + "".join(f"    {statement}\n" for statement in typed)
    if behind:
        spans.append(_behind(text, listed, behind))
    return spans


def import_end(text: bytes) -> int:
    """Return where the imports at the top of a file end."""
    return _end(text, top_statements(text, "python"))[0]


def _joined_by_module(statements: Sequence[str]) -> list[str]:
    """Return the statements with `from m import a` and `from m import b` as one, where it fits on a line."""
    joined: list[str] = []
    last: dict[str, int] = {}
    for statement in statements:
        module, _, names = statement.partition(" import ")
        can_join = module.startswith("from ") and not any(sign in names for sign in "*(#")
        place = last.get(module) if can_join else None
        if place is not None and len(joined[place]) + len(names) + 2 <= _MAX_LINE:
            joined[place] += f", {names}"
            continue
        if can_join:
            last[module] = len(joined)
        joined.append(statement)
    return joined


def _behind(text: bytes, listed: list[TopStatement], code: str) -> Span:
    at, has_imports = _end(text, listed)
    if has_imports:
        return _at(text, at, code)
    following = text[at : line_end(text, at)].strip()
    documented = at and not text[:at].lstrip().startswith(b"#")
    before = "\n" if documented and not text[:at].endswith((b"\n\n", b"\r\n\r\n")) else ""
    return _at(text, at, f"{before}{code}" + ("\n" if following else ""))


def _at(text: bytes, at: int, code: str) -> Span:
    if at and at == len(text) and text[-1:] not in (b"\n", b"\r"):
        return Span(start=at, end=at, new="\n" + code.removesuffix("\n"))
    return Span(start=at, end=at, new=code)


def _end(text: bytes, listed: list[TopStatement]) -> tuple[int, bool]:
    """Return the place after the leading imports, and whether there are any."""
    at, found = 0, False
    for index, statement in enumerate(listed):
        if statement.is_import:
            at, found = past_newline(text, line_end(text, statement.end)), True
        elif statement.kind == "comment":
            comment = text[statement.start : statement.end]
            if statement.start == 0 or (not at and b"coding" in comment and statement.start < 200):
                of_file = comment.startswith(b"#!") or b"coding" in comment
                at = past_newline(text, line_end(text, statement.end)) if of_file else at
        elif {statement.kind, statement.inner} & _TEXTS:
            if not any(other.kind != "comment" for other in listed[:index]):
                at = past_newline(text, line_end(text, statement.end))
        elif statement.kind not in ("if_statement", "try_statement"):
            break
    return at, found
