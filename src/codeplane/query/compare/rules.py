"""Kinds of definitions, and the order of visibilities."""

ORDER: dict[str, int] = {"public": 0, "protected": 1, "internal": 2, "private": 3}

CALLABLES = frozenset({"function", "prototype", "method", "constructor", "delegate", "macro"})
VALUES = frozenset({"variable", "constant", "field", "property", "enum_member", "event"})
PROMISES = frozenset({"interface", "trait", "protocol", "annotation"})
