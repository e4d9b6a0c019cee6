"""The types that lists of initial values are for, so that `.field = …` is known."""

import tree_sitter

from codeplane.code.languages.c.types import Names, Type, Types, read_type_descriptor

Node = tree_sitter.Node


class Initializers:
    """Finds the types of designated fields."""

    def __init__(self, names: Names, types: Types) -> None:
        self._names = names
        self._types = types

    def type_of(self, path: str, designator: Node) -> Type | None:
        """Return the type whose field a designator names."""
        pair = designator.parent
        values = pair.parent if pair is not None else None
        of = self._value_type(path, values) if values is not None else None
        before = pair.children_by_field_name("designator") if pair is not None else []
        for sibling in before:
            if sibling == designator:
                break
            of = self._designator_type(of, sibling)
        return of

    def _designator_type(self, of: Type | None, designator: Node) -> Type | None:
        if of is None:
            return None
        if designator.type == "subscript_designator":
            return of.with_pointers(-1)
        field = designator.named_child(0)
        name = (field.text or b"").decode("utf-8", "replace") if field is not None else ""
        bounds = self._names.member(of, name, False)
        return next((found for bound in bounds if (found := self._types.declared_type(bound)) is not None), None)

    def _value_type(self, path: str, values: Node) -> Type | None:
        """Return the type that a list of initial values is for."""
        around = values.parent
        match around.type if around is not None else "":
            case "init_declarator":
                return _of_declarator(path, around)
            case "compound_literal_expression":
                return read_type_descriptor(path, around.child_by_field_name("type")) if around is not None else None
            case "initializer_list":
                outer = self._value_type(path, around) if around is not None else None
                # A list without a name in a struct is for a field by its position.
                return outer.with_pointers(-1) if outer is not None and outer.pointers > 0 else None
            case "initializer_pair":
                list_around = around.parent if around is not None else None
                of = self._value_type(path, list_around) if list_around is not None else None
                for designator in around.children_by_field_name("designator") if around is not None else ():
                    of = self._designator_type(of, designator)
                return of
        return None


def _of_declarator(path: str, initialized: Node | None) -> Type | None:
    declaration = initialized.parent if initialized is not None else None
    written = declaration.child_by_field_name("type") if declaration is not None else None
    inner = initialized.child_by_field_name("declarator") if initialized is not None else None
    pointers = 0
    while inner is not None:
        pointers += inner.type in ("array_declarator", "pointer_declarator")
        inner = inner.child_by_field_name("declarator")
    return Type(path, written, pointers) if written is not None else None
