"""Words that are keywords at some places and names at others: `from` in JavaScript, `match` in Python."""

from collections.abc import Sequence
from functools import cache

import tree_sitter

from codeplane.code.facts.language import Language
from codeplane.code.facts.readable import readable

_SCRIPT = "as async from get of set static"
_TYPED = f"""{_SCRIPT} abstract accessor any asserts bigint boolean declare global infer is keyof module namespace
    never number object out override private protected public readonly satisfies string symbol type undefined unique
    unknown"""
# What a language's own words may also name; of others every word is one or the other.
_WORDS = {
    "python": "case match type",
    "javascript": _SCRIPT,
    "typescript": _TYPED,
    "tsx": _TYPED,
    "java": """exports module open opens permits provides record requires sealed to transitive uses var when with
        yield""",
    "kotlin": """abstract annotation by catch companion const constructor crossinline data delegate dynamic enum expect
        external field file final finally get import infix init inline inner internal lateinit noinline open operator
        out override param private property protected public receiver reified sealed set setparam suspend tailrec
        value vararg where""",
    "csharp": """add alias and ascending async by descending dynamic equals field file from get global group init into
        join let managed nameof not notnull on or orderby partial record remove required scoped select set unmanaged
        value var when where with yield""",
    "swift": """any associativity async convenience didSet dynamic final get indirect infix lazy left mutating none
        nonmutating optional override package postfix precedence prefix required right set some unowned weak willSet""",
    "rust": "auto default macro_rules raw union",
    "cpp": "final import module override",
    "scala": "as derives end extension infix inline opaque open transparent using",
    "php": "array enum fn from list match mixed never readonly self parent static",
    "haskell": "anyclass as family forall hiding pattern qualified role stock via",
    "ruby": "alias and begin class def do else end ensure if in next not or redo rescue retry return self super then",
    "lua": "goto",
}
_SOFT = {language: frozenset(words.split()) for language, words in _WORDS.items()}


def names_alone(language: Language, text: bytes, name: str, offsets: Sequence[int]) -> list[int]:
    """The places of a word at which it is a name; where it can be a keyword, syntax tells."""
    if not offsets or name not in _SOFT.get(language.name, ()):
        return list(offsets)
    # A parser is not for several threads at once, and one costs next to nothing.
    root = tree_sitter.Parser(_grammar(language.grammar)).parse(readable(language.name, text)).root_node
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
    # Loading a grammar is paid by whoever needs it.
    from tree_sitter_language_pack import get_language

    return get_language(name)  # type: ignore[arg-type]  # the names are in our table, and tested
