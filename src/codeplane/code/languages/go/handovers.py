"""Which values of Go's types are handed to packages that are neither here nor in the standard library.

Such a package may ask for the methods of what it is given, by an interface that nobody sees.
"""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.go.expressions import Expressions
from codeplane.code.languages.go.type_members import TypeMembers
from codeplane.code.languages.go.types import FUNCTIONS, GoTypes, Node, Type, parameters, results, text_of
from codeplane.code.languages.member_resolver import CodeView

_MAX_FILES = 400
_MAX_NAMES = 200
# Values whose types have no methods of their own.
_PLAIN = frozenset(
    {"interpreted_string_literal", "raw_string_literal", "int_literal", "float_literal", "imaginary_literal",
     "rune_literal", "true", "false", "nil", "func_literal", "comment"}
)  # fmt: skip
# Packages of assertions, which take values of any type and ask for no methods.
_ASSERTING = ("github.com/stretchr/testify/assert", "github.com/stretchr/testify/require")


class Handovers:
    """Finds the package from outside that is given a value of a type."""

    def __init__(self, view: CodeView, types: GoTypes, members: TypeMembers, expressions: Expressions) -> None:
        self._view = view
        self._types = types
        self._members = members
        self._expressions = expressions
        self._given: dict[str, list[tuple[str, Type]]] = {}

    def taker(self, name: str, owners: Sequence[Type], among: set[Bound]) -> str:
        """Return the package that is given a value whose method of this name is among some; empty if none is."""
        files = self._files(owners)
        for path in files[:_MAX_FILES]:
            for package, of in self._handover_types(path):
                has = self._members.find(of, name)
                if has is not None and any(entity in among for entity in has.entities):
                    return package
        return "a package that one of too many files to look at may hand it to" if len(files) > _MAX_FILES else ""

    def _files(self, owners: Sequence[Type]) -> list[str]:
        """Return the files with imports from outside in which values of some types may be found."""
        found: dict[str, None] = {}
        for of in owners:
            packages = self._types.packages(of.path)
            entity = self._types.named_type(of)
            beside = packages.beside(of.path) if packages is not None else [of.path]
            found |= dict.fromkeys(beside)
            for name in self._sources(entity) if isinstance(entity, Bound) else ():
                found |= dict.fromkeys(path for path in self._view.files_with(name) if path.endswith(".go"))
        return [path for path in found if self._imports_foreign(path)]

    def _sources(self, entity: Bound) -> list[str]:
        """Return the names by which other packages get values of a type: its own, and those declared with it."""
        word = re.compile(rb"\b" + re.escape(entity.name.encode()) + rb"\b")
        found = {entity.name: None}
        packages = self._types.packages(entity.file)
        for path in packages.beside(entity.file) if packages is not None else ():
            facts, text = self._view.facts(path), self._view.text(path)
            for definition in facts.definitions if facts is not None and word.search(text) else ():
                if definition.name[:1].isupper() and word.search(
                    text, definition.start, definition.body if definition.body > 0 else definition.end
                ):
                    found[definition.name] = None
        return list(found)[:_MAX_NAMES]

    def _imports_foreign(self, path: str) -> bool:
        facts, packages = self._view.facts(path), self._types.packages(path)
        if facts is None or packages is None:
            return False
        return any(is_foreign(import_.source) and not packages.find(import_.source, path) for import_ in facts.imports)

    def _handover_types(self, path: str) -> list[tuple[str, Type]]:
        if path not in self._given:
            root = self._view.node(path, 0, len(self._view.text(path)))
            found = self._in_tree(path, root) if root is not None else ()
            self._given[path] = [(package, of) for package, of in found if of is not None and not of.outside]
        return self._given[path]

    def _in_tree(self, path: str, root: Node) -> Iterator[tuple[str, Type | None]]:
        """Yield the types of what is handed to packages from outside, each with the package."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            waiting += node.named_children
            match node.type:
                case "call_expression":
                    yield from self._by_call(path, node)
                case "var_spec" | "assignment_statement" | "return_statement" | "send_statement":
                    yield from self._by_statement(path, node)
                case "literal_value":
                    yield from self._by_literal(path, node)
                case "generic_type":
                    package = self._foreign(Type(path, node))
                    yield from ((package, argument) for argument in self._types.arguments(Type(path, node)) if package)

    def _by_call(self, path: str, node: Node) -> Iterator[tuple[str, Type | None]]:
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        arguments = [child for child in listed.named_children if child.type != "comment"] if listed is not None else []
        is_possible = any(child.type not in _PLAIN for child in arguments)
        called = self._expressions.of(path, function) if is_possible else None
        if called is None or called.items:
            return
        if called.outside:
            taken = called.outside if is_foreign(called.outside) and called.outside not in _ASSERTING else ""
            values = [argument for argument in arguments if taken and argument.type not in _PLAIN]
            yield from ((taken, self._expressions.of(path, value)) for value in values)
            return
        of = called if called.node.type in FUNCTIONS else self._types.underlying_type(called)
        if called.path == path and function is not None and called.node.id == function.id:
            yield from self._foreign_uses(path, [called], arguments)
        elif of is not None and of.node.type in FUNCTIONS:
            yield from self._foreign_uses(path, parameters(of), arguments)

    def _by_statement(self, path: str, node: Node) -> Iterator[tuple[str, Type | None]]:
        if node.type == "return_statement":
            around: Node | None = node.parent
            while around is not None and around.type not in FUNCTIONS:
                around = around.parent
            listed = next((child for child in node.named_children if child.type == "expression_list"), None)
            wanted = results(Type(path, around)) if around is not None else []
            yield from self._foreign_uses(path, wanted, listed.named_children if listed is not None else [])
            return
        if node.type == "send_statement":
            channel = self._types.element(self._expressions.of(path, node.child_by_field_name("channel")))
            value = node.child_by_field_name("value")
            yield from self._foreign_uses(path, [channel], [value] if value is not None else [])
            return
        listed = node.child_by_field_name("value" if node.type == "var_spec" else "right")
        written, left = node.child_by_field_name("type"), node.child_by_field_name("left")
        places: list[Type | None] = []
        if written is not None:
            places = [Type(path, written)] * len(node.children_by_field_name("name"))
        elif left is not None:
            places = [self._expressions.of(path, child) for child in left.named_children]
        yield from self._foreign_uses(path, places, listed.named_children if listed is not None else [])

    def _by_literal(self, path: str, node: Node) -> Iterator[tuple[str, Type | None]]:
        of = self._expressions.literal_type(path, node)
        package = self._foreign(of)
        under = self._types.underlying_type(of)
        for child in node.named_children:
            value = child.child_by_field_name("value") if child.type == "keyed_element" else child
            children = value.named_children if value is not None and value.type == "literal_element" else [value]
            inner = children[0] if children else None
            if inner is None or inner.type in ("comment", "literal_value"):
                continue
            to: Type | None = None
            if package:
                yield package, self._expressions.of(path, inner)
            elif under is not None and under.node.type == "struct_type":
                key = child.child_by_field_name("key") if child.type == "keyed_element" else None
                member = self._members.find(of, text_of(key)) if of is not None and key is not None else None
                to = member.type if member is not None else None
            else:
                to = self._types.element(of)
            yield from self._foreign_uses(path, [to], [inner])

    def _foreign_uses(
        self, path: str, places: Sequence[Type | None], values: Sequence[Node]
    ) -> Iterator[tuple[str, Type | None]]:
        """Yield the types of values whose places are of types from outside."""
        for position, value in enumerate(values):
            if value.type in _PLAIN:
                continue
            place = places[min(position, len(places) - 1)] if places else None
            inner = self._types.element(place) if place is not None and place.items else place
            if package := self._foreign(inner):
                yield package, self._expressions.of(path, value)

    def _foreign(self, of: Type | None) -> str:
        """Return the package of a type that is neither here nor in the standard library."""
        entity = self._types.named_type(of)
        return entity.source if isinstance(entity, Outside) and is_foreign(entity.source) else ""


def is_foreign(source: str) -> bool:
    """Whether an import path, of a package that is not here, is none of the standard library."""
    return "." in source.partition("/")[0]
