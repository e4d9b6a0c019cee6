"""Import and export statements of JavaScript, with the offsets of their sources and names."""

from collections.abc import Collection
from dataclasses import dataclass

import tree_sitter

from codeplane.refactor.move.span import Span, line_end, line_start, past_newline
from codeplane.refactor.move.top_statements import parse

_LISTS = frozenset({"named_imports", "export_clause"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Specifier:
    """One name in braces, such as `type A as B`."""

    name: str
    local: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleStatement:
    """`import D, { a, b } from "s"`, `export { a } from "s"` or `export { a }`."""

    start: int
    end: int
    is_export: bool
    is_type: bool
    default: str
    namespace: str
    star: bool
    source: str
    source_start: int
    source_end: int
    specifiers: tuple[Specifier, ...]

    @property
    def only_names(self) -> bool:
        """Whether it has nothing but names in braces."""
        return not self.default and not self.namespace and not self.star


def module_statements(text: bytes, grammar: str) -> list[ModuleStatement]:
    """Return the imports and export lists at the top level of a file."""
    found = []
    for node in parse(text, grammar).root_node.children:
        if node.type in ("import_statement", "export_statement"):
            statement = _parse_statement(node, text)
            if statement is not None:
                found.append(statement)
    return found


def _parse_statement(node: tree_sitter.Node, text: bytes) -> ModuleStatement | None:
    is_export = node.type == "export_statement"
    source = node.child_by_field_name("source")
    default, namespace, star = "", "", False
    specifiers: list[Specifier] = []
    lists = False
    waiting = list(node.children)
    while waiting:
        child = waiting.pop(0)
        if child.type == "import_clause":
            waiting = [*child.children, *waiting]
        elif child.type in _LISTS:
            lists = True
            specifiers += [
                _specifier(specifier, text)
                for specifier in child.named_children
                if specifier.type.endswith("_specifier")
            ]
        elif child.type == "identifier" and not is_export:
            default = _node_text(child, text)
        elif child.type in ("namespace_import", "namespace_export"):
            namespace = _node_text(child.named_children[-1], text)
        elif child.type == "*":
            star = True
    if is_export and not lists and source is None:
        return None
    return ModuleStatement(
        start=node.start_byte,
        end=node.end_byte,
        is_export=is_export,
        is_type=any(child.type == "type" for child in node.children),
        default=default,
        namespace=namespace,
        star=star,
        source=_node_text(source, text)[1:-1] if source is not None else "",
        source_start=source.start_byte + 1 if source is not None else 0,
        source_end=source.end_byte - 1 if source is not None else 0,
        specifiers=tuple(specifiers),
    )


def _specifier(node: tree_sitter.Node, text: bytes) -> Specifier:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    imported = _node_text(name, text) if name is not None else ""
    return Specifier(
        name=imported,
        local=_node_text(alias, text) if alias is not None else imported,
        start=node.start_byte,
        end=node.end_byte,
        text=_node_text(node, text),
    )


def _node_text(node: tree_sitter.Node, text: bytes) -> str:
    return text[node.start_byte : node.end_byte].decode("utf-8", "replace")


def remove_names(text: bytes, given: ModuleStatement, gone: Collection[Specifier]) -> list[Span]:
    """Return the spans that remove names from a statement, or the statement if nothing is left of it."""
    left = [specifier for specifier in given.specifiers if specifier not in gone]
    if not left and not given.default and not given.namespace:
        return [Span(start=line_start(text, given.start), end=past_newline(text, line_end(text, given.end)))]
    if not left:
        # `import D, { a } from` keeps its default.
        opened = text.rfind(b"{", given.start, given.specifiers[0].start)
        closed = text.find(b"}", given.specifiers[-1].end) + 1
        comma = text.rfind(b",", given.start, opened)
        return [Span(start=comma if comma > 0 else opened, end=closed)]
    spans = []
    for index, item in enumerate(given.specifiers):
        if item not in gone:
            continue
        line, until = line_start(text, item.start), line_end(text, item.end)
        rest = text[item.end : until].strip()
        alone = not text[line : item.start].strip() and (
            not rest.strip(b",") or rest.lstrip(b",").strip().startswith(b"//")
        )
        following = [other for other in given.specifiers[index + 1 :] if other not in gone]
        if alone:
            spans.append(Span(start=line, end=past_newline(text, until)))
        elif following:
            spans.append(Span(start=item.start, end=given.specifiers[index + 1].start))
        else:
            before = [other.end for other in left if other.end <= item.start]
            start = max([*before, *(span.end for span in spans if span.end <= item.start)])
            spans.append(Span(start=start, end=item.end))
    return spans


def quote_source(text: bytes, source: str) -> str:
    """Quote a source like the rest of the file does."""
    quote = "'" if text.count(b"'") > text.count(b'"') else '"'
    return f"{quote}{source}{quote}"


def end_statement(text: bytes, statement: str) -> str:
    """Add a semicolon to a statement if the file uses them."""
    lines = text.count(b"\n")
    return f"{statement};" if not lines or text.count(b";\n") + text.count(b";\r\n") > lines // 10 else statement
