"""The types of what Kotlin's calls return."""

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.declared_type import Type, common_type, is_foreign, substitute
from codeplane.code.languages.jvm.java_classes import Node, text
from codeplane.code.languages.jvm.java_library import result as java_result
from codeplane.code.languages.jvm.java_lookup import Found, plain_name
from codeplane.code.languages.jvm.kotlin_accesses import KotlinAccesses
from codeplane.code.languages.jvm.kotlin_classes import child_of, is_kotlin
from codeplane.code.languages.jvm.kotlin_library import (
    ENTRIES,
    EXTENSION,
    FUNCTION,
    GIVES_BACK,
    GIVES_RESULT,
    ITEMS,
    container_of,
    mapping_result,
    result,
)
from codeplane.code.languages.jvm.kotlin_lookup import values_of
from codeplane.code.languages.jvm.kotlin_syntax import callee_name, split, written_type
from codeplane.code.model import Definition


class KotlinCalls(KotlinAccesses):
    """Finds the types of results, with what a call gives for type variables."""

    def of_call(self, path: str, call: Node) -> Type | None:
        """Return the type of what a call returns or makes."""
        found = self.resolve_call(path, call)
        if found is not None and found.bounds:
            return self.of_results(path, found, call) if found.certain else None
        made = self.constructed_class(path, call)
        if isinstance(made, Bound) or (made is not None and (found is None or not found.certain)):
            listed = child_of(child_of(call, "call_suffix"), "type_arguments")
            args = (
                tuple(self._classes.read(path, argument) for argument in listed.named_children)
                if listed is not None
                else ()
            )
            return self._classes.resolve_alias(Type(made, args)) if made is not None else None
        return self._of_outside(path, found, call)

    def of_results(self, path: str, found: Found, call: Node | None) -> Type | None:
        """Return the type that all functions found for a call return."""
        kinds = []
        for bound in found.bounds:
            for _, definition in self._view.definitions(bound):
                if definition.kind not in ("function", "method"):
                    of = self.declared_type(bound)
                    called = plain_name(of) in (FUNCTION, EXTENSION) and of is not None and of.args
                    kinds.append(of.args[0] if called and of is not None else None)
                elif call is None or not is_kotlin(bound.file) or self.takes(bound.file, definition, call):
                    given = self.infer_arguments(path, bound, definition, call)
                    kinds.append(self.as_member_of(found.owner, substitute(self.result_of(bound, definition), given)))
        return common_type(kinds)

    def result_of(self, bound: Bound, definition: Definition) -> Type | None:
        """Return the type that a function is declared to return, or that its expression has."""
        key = (bound.file, definition.name_at)
        if key not in self._declared:
            self._declared[key] = None
            self._declared[key] = self._read_result(bound, definition)
        return self._declared[key]

    def _read_result(self, bound: Bound, definition: Definition) -> Type | None:
        made = self._classes.declaration(bound.file, definition)
        if made is None:
            return None
        if not is_kotlin(bound.file):
            return self._classes.read(bound.file, made.child_by_field_name("type"))
        listed = child_of(made, "function_value_parameters")
        following = listed.next_named_sibling if listed is not None else None
        if following is not None and following.type.endswith("_type"):
            return self._classes.read(bound.file, following)
        body = child_of(made, "function_body")
        if body is None or not text(body).startswith("="):
            return Type(Outside("Unit"))
        return self.of(bound.file, body.named_children[-1])

    def infer_arguments(
        self, path: str, bound: Bound, definition: Definition, call: Node | None
    ) -> dict[Bound, Type | None]:
        """Return what a call gives for the type variables of a function."""
        made = self._classes.declaration(bound.file, definition) if is_kotlin(bound.file) else None
        own, facts = child_of(made, "type_parameters"), self._view.facts(bound.file)
        if own is None or facts is None or call is None:
            return {}
        names = [name for child in own.named_children if (name := child_of(child, "type_identifier")) is not None]
        found: dict[Bound, Type | None] = {
            Bound(bound.file, facts.scope_at(name.start_byte), text(name)): None for name in names
        }
        listed = child_of(child_of(call, "call_suffix"), "type_arguments")
        if listed is not None:
            return dict(zip(found, (self._classes.read(path, child) for child in listed.named_children), strict=False))
        for parameter, value in zip(self.parameters(bound.file, definition), values_of(call), strict=False):
            wanted = self._classes.read(bound.file, written_type(parameter))
            if wanted is not None and value.type != "annotated_lambda":
                _unify(wanted, self.of(path, value), found)
        written = made.child_by_field_name("receiver") if made is not None else None
        before = split(call.named_children[0])[0]
        if written is not None and before is not None:
            wanted = self._classes.read(bound.file, written)
            if wanted is not None:
                _unify(wanted, self.of(path, before), found)
        return found

    def _of_outside(self, path: str, found: Found | None, call: Node) -> Type | None:
        name = callee_name(call)
        before = split(call.named_children[0])[0] if call.named_children else None
        if before is None:
            return self._of_plain_function(path, name, call, found)
        owner = found.owner if found is not None else None
        if owner is None:
            return None
        if name in GIVES_BACK:
            return owner
        values = values_of(call)
        if name in GIVES_RESULT:
            return self.of_lambda_result(path, values[-1:])
        simple = plain_name(owner)
        given = result(simple, len(owner.args), name)
        if given is not None:
            kind, at = given
            return Type(Outside(kind), (owner.args[at],)) if kind else owner.args[at]
        if simple in ITEMS and (held := mapping_result(simple, name)):
            return Type(Outside(held), (self.of_lambda_result(path, values[-1:]),))
        if simple in ENTRIES and len(owner.args) == 2:
            at = {"component1": 0, "component2": 1}.get(name, -1)
            return owner.args[at] if at >= 0 else None
        java = java_result(simple, name, len(owner.args))
        if java is not None and not java[0] and java[1][0] < len(owner.args):
            return owner.args[java[1][0]]
        kinds = [self.of(path, value) for value in values]
        foreign = is_foreign(owner) and all(is_foreign(type_) for type_ in kinds)
        return Type(Outside(f"a result of {name}")) if foreign else None

    def _of_plain_function(self, path: str, name: str, call: Node, found: Found | None) -> Type | None:
        values = values_of(call)
        if found is not None and not found.certain:
            return None
        if (name == "with" and len(values) == 2) or name == "run":
            return self.of_lambda_result(path, values[-1:])
        container = container_of(name)
        listed = child_of(child_of(call, "call_suffix"), "type_arguments")
        if container and listed is not None:
            return Type(
                Outside(container), tuple(self._classes.read(path, argument) for argument in listed.named_children)
            )
        if container in ("List", "Set", "Sequence", "Array"):
            kinds = [self.of(path, value) for value in values]
            same = kinds and all(type_ == kinds[0] for type_ in kinds)
            return Type(Outside(container), (kinds[0],) if same else ())
        if name in ("requireNotNull", "checkNotNull") and values:
            return self.of(path, values[0])
        return None


def _unify(wanted: Type, given: Type | None, found: dict[Bound, Type | None]) -> None:
    """Set the type variables in a wanted type to what stands for them in a given one."""
    if given is None:
        return
    if isinstance(wanted.of, Bound) and wanted.of in found:
        found[wanted.of] = given
        return
    if plain_name(wanted) == plain_name(given) or (plain_name(wanted) in ITEMS and plain_name(given) in ITEMS):
        for mine, other in zip(wanted.args, given.args, strict=False):
            if mine is not None:
                _unify(mine, other, found)
