"""Statements of a file, as parsed by its grammar."""

import re
from dataclasses import dataclass
from functools import cache

import tree_sitter

from codeplane.code.languages.registry import LANGUAGES
from codeplane.refactor.move.span import line_end, line_start, past_newline

_BLOCKS = frozenset(
    {
        "module", "program", "block", "class_body", "statement_block", "source_file", "interface_body", "enum_body",
        "declaration_list", "field_declaration_list", "object_type", "translation_unit", "compilation_unit",
        "body_statement", "switch_body",
    }
)  # fmt: skip
_HAS_HEAD = re.compile(r"_(?:statement|expression|clause|arm|loop)$|^(?:for|while|until|if|unless|case|when)$")
_BODIES = ("body", "consequence", "value", "do")
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TopStatement:
    """A top-level statement; `inner`: the kind of what it exports or decorates, if it does."""

    kind: str
    start: int
    end: int
    inner: str = ""

    @property
    def is_import(self) -> bool:
        """Whether it is an import."""
        return self.kind in _IMPORTS


def top_statements(text: bytes, grammar: str) -> list[TopStatement]:
    """Return the top-level statements of a file, comments included."""
    found = []
    for node in parse(text, grammar).root_node.children:
        inner = node.named_children[-1].type if node.named_children else ""
        found.append(TopStatement(kind=node.type, start=node.start_byte, end=node.end_byte, inner=inner))
    return found


def parse(text: bytes, grammar: str) -> tree_sitter.Tree:
    """Return a file's syntax tree, of which only the byte offsets are reliable."""
    return _parser(grammar).parse(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerStatement:
    """A statement anywhere in a file; `alone`: its block has no other, `block`: the kind of its block."""

    kind: str
    start: int
    end: int
    alone: bool
    block: str
    names: int
    """How many variables it declares."""
    has_body: bool
    """Whether the name belongs to the head of a loop, a branch or the like, whose body would go along."""


_ABOVE = frozenset({"attribute_item", "block_comment", "line_comment"})


def statement_around(text: bytes, grammar: str, at: int) -> InnerStatement | None:
    """Return the innermost statement or member around a place."""
    repair = LANGUAGES[grammar].source_repair if grammar in LANGUAGES else None
    readable = repair.before_parsing(text) if repair is not None else text
    node = parse(readable, grammar).root_node.descendant_for_byte_range(at, at)
    has_body = False
    while node is not None:
        # Also where a label stands between the block and the loop.
        has_body = has_body or (_HAS_HEAD.search(node.type) is not None and any(map(node.child_by_field_name, _BODIES)))
        if node.parent is None or node.parent.type in _BLOCKS:
            break
        node = node.parent
    if node is None or node.parent is None:
        return None
    others = [child for child in node.parent.named_children if child.type != "comment"]
    declared = node.named_children[-1] if node.type == "export_statement" and node.named_children else node
    start, before = node.start_byte, node.prev_named_sibling
    while before is not None and before.type in _ABOVE:
        # An attribute that is left would be that of what follows.
        start = before.start_byte if before.type == "attribute_item" else start
        before = before.prev_named_sibling
    return InnerStatement(
        kind=node.type,
        start=start,
        end=node.end_byte,
        alone=len(others) < 2,
        block=node.parent.type,
        has_body=has_body,
        names=sum(child.type == "variable_declarator" for child in declared.named_children),
    )


def is_type_checking(text: bytes, top: TopStatement) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`."""
    head = text[top.start : line_end(text, top.start)].split(b"#")[0].rstrip()
    return top.kind == "if_statement" and head in (
        b"if TYPE_CHECKING:",
        b"if typing.TYPE_CHECKING:",
        b"if t.TYPE_CHECKING:",
    )


def whole_lines(text: bytes, start: int, end: int, marks: tuple[bytes, ...]) -> tuple[int, int]:
    """Return the lines of a statement, with the comments right above it except those of the file."""
    begin = line_start(text, start)
    while begin > 0:
        before = line_start(text, begin - 1)
        line = text[before : line_end(text, before)]
        stripped = line.strip()
        of_file = before == 0 and (stripped.startswith(b"#!") or b"coding" in stripped)
        if not stripped.startswith(marks) or (line[:1] in (b" ", b"\t") and not stripped.startswith(b"*")) or of_file:
            break
        begin = before
    return begin, past_newline(text, line_end(text, end))


def with_blank_lines(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Extend a span of lines by the blank lines that would be too many without it."""
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
    # Grammars load slowly, so only on use.
    from tree_sitter_language_pack import get_language

    return tree_sitter.Parser(get_language(grammar))  # type: ignore[arg-type]  # the names are in our table
