"""Soft keywords, which are keywords in some places and names in others: `from` in JavaScript, `match` in Python."""

from collections.abc import Sequence
from functools import cache

import tree_sitter

from codeplane.code.languages.language import Language

# Indentation is seldom deeper.
_NEAR = 80


def names_alone(language: Language, text: bytes, name: str, offsets: Sequence[int]) -> list[int]:
    """Return the places where a word is a name; if it can be a keyword, parse the text to find out."""
    if not offsets or name not in language.soft_keywords:
        return list(offsets)
    lead = language.keyword_leads.get(name)
    if lead is not None and ((first := lead.search(text)) is None or first.end() > offsets[-1]):
        return list(offsets)
    doubtful = frozenset(at for at in offsets if not _stands_as_name(language, text, name, at))
    if not doubtful:
        return list(offsets)
    # A parser cannot be shared between threads, and costs next to nothing to make.
    repair = language.source_repair
    readable = repair.before_parsing(text) if repair is not None else text
    root = tree_sitter.Parser(_grammar(language.grammar)).parse(readable).root_node
    length = len(name.encode())
    return [
        at for at in offsets if at not in doubtful or not _is_keyword(root.descendant_for_byte_range(at, at + length))
    ]


def _stands_as_name(language: Language, text: bytes, name: str, at: int) -> bool:
    """Whether what stands right before a word says that it is a name."""
    before = language.never_keyword_after.get(name)
    found = before.search(text, max(0, at - _NEAR), at) if before is not None else None
    if found is None:
        return False
    # On another line it may be the end of a comment.
    line = text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()]
    return b"\n" not in found[0] or b"//" not in line


def _is_keyword(node: tree_sitter.Node | None) -> bool:
    """Whether a word is a keyword; some grammars represent a name as an identifier that contains the word."""
    if node is None or node.is_named or node.child_count:
        return False
    around = node.parent
    if around is None or around.byte_range != node.byte_range:
        return True
    return not around.type.endswith(("identifier", "name"))


@cache
def _grammar(name: str) -> tree_sitter.Language:
    # Load a grammar only when it is used, because that is slow.
    from tree_sitter_language_pack import get_language

    return get_language(name)  # type: ignore[arg-type]  # the names are in our table, and tested
