"""The text that keeps a place's meaning where the new name alone does not."""

from codeplane.code.languages.expression import is_short
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts, Import
from codeplane.code.resolve.syntax_trees import SyntaxTrees

_SHORT = frozenset({"shorthand_property_identifier", "shorthand_property_identifier_pattern"})


def is_shorthand(syntax: SyntaxTrees, facts: Facts, text: bytes, path: str, start: int, end: int) -> bool:
    """Whether a name is a shorthand for a property and a variable, not a block that looks like one."""
    if not LANGUAGES[facts.language].names.shorthand_properties or not is_short(text, start, end):
        return False
    node = syntax.node(path, start, end)
    return node is not None and node.type in _SHORT


def import_under_new_name(language: Language, import_: Import, name: str, new: str, *, short: bool) -> str | None:
    """Return an import of something else under the new name; None if it cannot be written that way."""
    if language.import_binds == "first":
        return f"{name} as {new}" if import_.imported or import_.source == name else None
    if import_.imported in ("", "default"):
        return new
    return f"{name}: {new}" if short else f"{name} as {new}"
