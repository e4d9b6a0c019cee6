"""Which trait prescribes the name of a member of Rust, read from the syntax alone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import tree_sitter

from bench.symbol_sample import Symbol

# Raised for a member of an `impl` block that its trait does not have.
NOT_OF_TRAIT = ("E0407", "E0437", "E0438")


@cache
def _parser() -> tree_sitter.Parser:
    from tree_sitter_language_pack import get_language

    return tree_sitter.Parser(get_language("rust"))


@cache
def _parsed(text: bytes) -> tree_sitter.Tree:
    return _parser().parse(text)


def trait_of(root: Path, symbol: Symbol) -> str:
    """The last name of the trait that a member is declared in or implements; empty if there is none."""
    text = (root / symbol.path).read_bytes()
    tree = _parsed(text)
    row = text.split(b"\n")[symbol.line - 1].decode("utf-8", "replace")
    point = (symbol.line - 1, len(row[: symbol.column - 1].encode()))
    node = tree.root_node.descendant_for_point_range(point, point)
    item = node.parent if node is not None else None
    if item is None or item.child_by_field_name("name") != node:
        return ""
    body = item.parent
    owner = body.parent if body is not None and body.type == "declaration_list" else None
    if owner is None or owner.type not in ("impl_item", "trait_item"):
        return ""
    written = owner.child_by_field_name("trait" if owner.type == "impl_item" else "name")
    return _last_name(written) if written is not None else ""


def _last_name(written: tree_sitter.Node) -> str:
    if written.type == "generic_type" and (inner := written.child_by_field_name("type")) is not None:
        written = inner
    return (written.text or b"").decode("utf-8", "replace").rpartition("::")[2]


def own_traits(root: Path) -> frozenset[str]:
    """The names of all traits that files of a checkout declare, in macros too."""
    words: set[str] = set()
    for file in root.rglob("*.rs"):
        parts = file.read_text("utf-8", "replace").split()
        words |= {name.partition("<")[0].rstrip(":{") for word, name in pairwise(parts) if word == "trait"}
    return frozenset(words)


def families(root: Path, symbols: Sequence[Symbol]) -> Mapping[Symbol, Sequence[Symbol]]:
    """The other members of each member's family: those of one name that a trait of one name declares or prescribes."""
    together: dict[tuple[str, str], list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        if symbol.kind in ("method", "function", "type", "constant") and (trait := trait_of(root, symbol)):
            together[trait, symbol.name].append(symbol)
    return {
        symbol: [other for other in members if other != symbol] for members in together.values() for symbol in members
    }
