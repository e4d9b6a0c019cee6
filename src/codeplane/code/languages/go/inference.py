"""What the type parameters of a Go function stand for in a call."""

from collections.abc import Sequence

from codeplane.code.languages.go.types import FUNCTIONS, GoTypes, Type, first_child, parameters, results, text_of

Given = tuple[tuple[str, Type | None], ...]
_MAX_DEPTH = 12


def infer(types: GoTypes, function: Type, explicit: Sequence[Type | None], arguments: Sequence[Type | None]) -> Given:
    """Return what each type parameter stands for: as written, or by the types of the arguments; None if unknown."""
    names = [name for name, _ in types.type_parameters(function.path, function.node)]
    found: dict[str, Type | None] = dict.fromkeys(names)
    for name, type_ in zip(names, explicit, strict=False):
        found[name] = type_
    taken = parameters(function)
    for position, argument in enumerate(arguments):
        if taken and argument is not None:
            last = taken[min(position, len(taken) - 1)]
            _unify(types, last.at(last.node) if last.items else last, argument, found, 0)
    return tuple(found.items())


def _unify(types: GoTypes, pattern: Type | None, of: Type | None, found: dict[str, Type | None], depth: int) -> None:
    """Match a type that is written with parameters with that of an argument."""
    if pattern is None or of is None or depth > _MAX_DEPTH:
        return
    node = pattern.node
    if node.type == "type_identifier" and text_of(node) in found:
        if found[text_of(node)] is None:
            found[text_of(node)] = of
        return
    if node.type in ("pointer_type", "parenthesized_type", "type_elem"):
        inner = of.at(first_child(of.node)) if of.node.type == node.type and not of.items else of
        return _unify(types, pattern.at(first_child(node)), inner, found, depth + 1)
    if node.type == "generic_type":
        for left, right in zip(types.arguments(pattern), _arguments(types, of), strict=False):
            _unify(types, left, right, found, depth + 1)
        return
    if node.type in ("slice_type", "array_type", "channel_type", "map_type"):
        part = node.child_by_field_name("element") or node.child_by_field_name("value")
        _unify(types, pattern.at(part), types.element(of), found, depth + 1)
        under = types.underlying_type(of)
        if node.type == "map_type" and under is not None:
            key = under.at(under.node.child_by_field_name("key"))
            _unify(types, pattern.at(node.child_by_field_name("key")), key, found, depth + 1)
        return
    if node.type == "function_type":
        under = of if not of.items and of.node.type in FUNCTIONS else types.underlying_type(of)
        if under is not None and under.node.type in FUNCTIONS:
            for listed in (parameters, results):
                for left, right in zip(listed(pattern), listed(under), strict=False):
                    _unify(types, left, right, found, depth + 1)


def _arguments(types: GoTypes, of: Type) -> list[Type | None]:
    head = types.canonical(of)
    return types.arguments(head) if head is not None else []
