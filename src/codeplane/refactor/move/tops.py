"""The statements a file consists of, as the parser sees them."""

from dataclasses import dataclass
from functools import cache

import tree_sitter

from codeplane.refactor.move.statement import line_end, line_start, past_newline

_BLOCKS = frozenset(
    {
        "module", "program", "block", "class_body", "statement_block", "source_file", "interface_body", "enum_body",
        "declaration_list", "field_declaration_list", "object_type", "translation_unit", "compilation_unit",
        "body_statement", "switch_body",
    }
)  # fmt: skip
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """A statement at the outermost level; `inner` is the kind of what it exports or decorates, where it does."""

    kind: str
    start: int
    end: int
    inner: str = ""

    @property
    def is_import(self) -> bool:
        """Whether it does nothing but import."""
        return self.kind in _IMPORTS


def tops(text: bytes, grammar: str) -> list[Top]:
    """The outermost statements of a file, comments among them."""
    found = []
    for node in parsed(text, grammar).root_node.children:
        inner = node.named_children[-1].type if node.named_children else ""
        found.append(Top(kind=node.type, start=node.start_byte, end=node.end_byte, inner=inner))
    return found


def parsed(text: bytes, grammar: str) -> tree_sitter.Tree:
    """A file's syntax tree; only the numbers of bytes in it are to be relied on."""
    return _parser(grammar).parse(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A statement anywhere in a file: `alone` says that its block has no other, `block` what kind of block it is."""

    kind: str
    start: int
    end: int
    alone: bool
    block: str
    names: int
    """How many things it declares, where it can declare several."""


def statement_around(text: bytes, grammar: str, at: int) -> Inner | None:
    """The innermost statement or member around a place."""
    node = parsed(text, grammar).root_node.descendant_for_byte_range(at, at)
    while node is not None and node.parent is not None and node.parent.type not in _BLOCKS:
        node = node.parent
    if node is None or node.parent is None:
        return None
    others = [one for one in node.parent.named_children if one.type != "comment"]
    declared = node.named_children[-1] if node.type == "export_statement" and node.named_children else node
    return Inner(
        kind=node.type,
        start=node.start_byte,
        end=node.end_byte,
        alone=len(others) < 2,
        block=node.parent.type,
        names=sum(one.type == "variable_declarator" for one in declared.named_children),
    )


def type_checking(text: bytes, top: Top) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`, which only readers of types go into."""
    head = text[top.start : line_end(text, top.start)].split(b"#")[0].rstrip()
    return top.kind == "if_statement" and head in (
        b"if TYPE_CHECKING:",
        b"if typing.TYPE_CHECKING:",
        b"if t.TYPE_CHECKING:",
    )


def whole_lines(text: bytes, start: int, end: int, marks: tuple[bytes, ...]) -> tuple[int, int]:
    """The lines of a statement, with the comments right above it that are not the file's own."""
    begin = line_start(text, start)
    while begin > 0:
        before = line_start(text, begin - 1)
        line = text[before : line_end(text, before)]
        said = line.strip()
        of_file = before == 0 and (said.startswith(b"#!") or b"coding" in said)
        if not said.startswith(marks) or (line[:1] in (b" ", b"\t") and not said.startswith(b"*")) or of_file:
            break
        begin = before
    return begin, past_newline(text, line_end(text, end))


def without_gap(text: bytes, start: int, end: int) -> tuple[int, int]:
    """A stretch of lines with the blank lines that would be left too many when it goes."""
    after = end
    while after < len(text) and not text[after : line_end(text, after)].strip():
        after = max(past_newline(text, line_end(text, after)), after + 1)
    before = start
    while before > 0 and not text[line_start(text, before - 1) : before].strip():
        before = line_start(text, before - 1)
    if after >= len(text):
        return before, len(text)
    return (start, after) if before < start or start == 0 else (start, end)


@cache
def _parser(grammar: str) -> tree_sitter.Parser:
    # Loading a grammar is paid by whoever needs it.
    from tree_sitter_language_pack import get_language

    return tree_sitter.Parser(get_language(grammar))  # type: ignore[arg-type]  # the names are in our table
