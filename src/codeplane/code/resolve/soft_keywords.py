"""Words that are keywords at some places and names at others: `from` in JavaScript, `match` in Python."""

from collections.abc import Sequence
from functools import cache

import tree_sitter

from codeplane.code.languages.language import Language


def names_alone(language: Language, text: bytes, name: str, offsets: Sequence[int]) -> list[int]:
    """The places of a word at which it is a name; where it can be a keyword, syntax tells."""
    if not offsets or name not in language.soft_keywords:
        return list(offsets)
    # A parser is not for several threads at once, and one costs next to nothing.
    repair = language.source_repair
    readable = repair.before_parsing(text) if repair is not None else text
    root = tree_sitter.Parser(_grammar(language.grammar)).parse(readable).root_node
    length = len(name.encode())
    return [at for at in offsets if not _is_keyword(root.descendant_for_byte_range(at, at + length))]


def _is_keyword(node: tree_sitter.Node | None) -> bool:
    """Whether a word stands for itself; some grammars write a name as an identifier that holds the word."""
    if node is None or node.is_named or node.child_count:
        return False
    around = node.parent
    if around is None or around.byte_range != node.byte_range:
        return True
    return not around.type.endswith(("identifier", "name"))


@cache
def _grammar(name: str) -> tree_sitter.Language:
    # Grammars load slowly, so only on use.
    from tree_sitter_language_pack import get_language

    return get_language(name)  # type: ignore[arg-type]  # the names are in our table, and tested
