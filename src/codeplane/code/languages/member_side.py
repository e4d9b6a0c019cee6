"""Which of several members of one name in a class a definition is."""

from codeplane.code.entity import Side
from codeplane.code.languages.javascript.this_binding import side_of as side_in_javascript
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts

_TYPES = frozenset({"annotation", "class", "enum", "interface", "record"})


def side_of(facts: Facts, text: bytes, definition: Definition) -> Side:
    """Return what a definition is beside others of its name; empty where a name of a class is one symbol."""
    if not LANGUAGES[facts.language].classes.members_by_kind:
        return side_in_javascript(facts, text, definition)
    if definition.kind == "method":
        return "" if _is_component(facts, definition) else "method"
    if definition.kind in ("field", "enum_member"):
        return "" if _is_component(facts, definition) else "field"
    return "type" if definition.kind in _TYPES else ""


def _is_component(facts: Facts, definition: Definition) -> bool:
    """Whether a member of a record is a component, which is a field and the method that reads it at once."""
    if definition.container < 0 or facts.definitions[definition.container].kind != "record":
        return False
    head = facts.definitions[definition.container]
    found = (facts.definitions[index] for index in facts.definitions_in(definition.scope, definition.name))
    return any(other.kind == "field" and other.name_at < head.body for other in found)
