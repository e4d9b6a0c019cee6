"""What can be folded in a file, by its syntax tree."""

from collections.abc import Iterator

import tree_sitter

from codeplane.query.syntax.records import Fold, FoldKind

MAX_FOLDS = 5_000
_MAX_NODES = 500_000
_PARTS = ("block", "body", "list", "object", "array", "dictionary", "arguments", "parameters", "set", "tuple", "switch")
_WHOLE = ("class", "function", "method", "interface", "struct", "enum", "impl", "trait", "module", "namespace")
_IMPORTS = ("import", "use_declaration", "include", "using_directive")


def folds(root: tree_sitter.Node) -> tuple[list[Fold], bool]:
    """Return what can be folded, in order, and whether that is all."""
    found: dict[int, Fold] = {}
    for kind, first, last in _stretches(root):
        # Of several that begin in one line the longest counts: a client shows one.
        if last > first and (first not in found or found[first].end_line < last):
            found[first] = Fold(line=first, end_line=last, kind=kind)
            if len(found) >= MAX_FOLDS:
                return list(found.values()), False
    return [found[line] for line in sorted(found)], True


def _stretches(root: tree_sitter.Node) -> Iterator[tuple[FoldKind, int, int]]:
    """Yield the lines of what can be folded; runs of comments and of imports are one each."""
    waiting, looked_at = [root], 0
    while waiting and looked_at < _MAX_NODES:
        node = waiting.pop()
        looked_at += 1
        run: tuple[FoldKind, int, int] | None = None
        for child in node.children:
            first, last = child.start_point[0] + 1, _last_line(child)
            kind = _run_kind(child)
            if kind is not None and run is not None and run[0] == kind and first <= run[2] + 1:
                run = (kind, run[1], last)
                continue
            if run is not None:
                yield run
            run = (kind, first, last) if kind is not None else None
            if kind is None and child.is_named and last > first:
                if _is_part(child.type):
                    # It is folded where its owner begins: `def` and not the first line of its body.
                    yield (
                        "code",
                        min(first, node.start_point[0] + 1) if node.parent and _is_owner(node.type) else first,
                        last,
                    )
                waiting.append(child)
        if run is not None:
            yield run


def _run_kind(node: tree_sitter.Node) -> FoldKind | None:
    if "comment" in node.type:
        return "comment"
    return "imports" if node.type.startswith(_IMPORTS) and node.is_named else None


def _is_part(kind: str) -> bool:
    return (any(part in kind for part in _PARTS) and kind != "statement_list") or _is_owner(kind)


def _is_owner(kind: str) -> bool:
    return any(part in kind for part in _WHOLE)


def _last_line(node: tree_sitter.Node) -> int:
    line, column = node.end_point
    # A node that ends with its line break ends in the line before.
    return line if column == 0 and line > node.start_point[0] else line + 1
