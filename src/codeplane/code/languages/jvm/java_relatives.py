"""The methods of Java that keep one name: what overrides or implements each other."""

from collections.abc import Iterator

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.class_family import class_family
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_classes import TYPES, JavaClasses, is_of_object, may_have
from codeplane.code.languages.jvm.java_library import SERIALIZATION
from codeplane.code.languages.jvm.java_processors import generator_of_field, generator_of_method, modifiers
from codeplane.code.languages.jvm.java_types import JavaTypes
from codeplane.code.languages.member_resolver import CodeView, Relatives
from codeplane.code.model import Definition, Facts

_MAX_MODIFIERS = 500


class JavaRelatives:
    """Finds the methods of a name that one inheritance tree shares."""

    def __init__(self, view: CodeView, classes: JavaClasses, types: JavaTypes) -> None:
        self._view = view
        self._classes = classes
        self._types = types
        self._below: dict[Bound, list[Bound]] = {}

    def of(self, member: Bound) -> Relatives:
        """Return the members that are renamed with a method; fields and types have none."""
        mine = [definition for _, definition in self._view.definitions(member) if definition.kind == "method"]
        facts = self._view.facts(member.file)
        if facts is None:
            return Relatives()
        if mine and all(self._is_own(member.file, method) for method in mine):
            return Relatives(outside=self._by_name(member.name, mine, member.file))
        component = self._component(member, facts)
        if component is None and facts.scopes[member.scope].kind != "class":
            return Relatives()
        if not mine and self._view.definitions(member) and component is None:
            return Relatives(outside=self._generator(member))
        owner = self._classes.of_scope(member.file, facts, (component or member).scope)
        family = class_family(
            owner,
            ancestors=self._classes.ancestors,
            below=self.below,
            has_member=lambda of: self._has(of, member.name),
        )
        bounds = [Bound(of.file, self._classes.body(of), member.name) for of in family if self._has(of, member.name)]
        bounds += [parameter for of in bounds if (parameter := self._parameter(of)) is not None]
        return Relatives(
            members=tuple(bound for bound in dict.fromkeys(bounds) if bound != member),
            outside=self._outside(family, member.name) or self._generator(member) or self._as_property(member.name),
        )

    def _as_property(self, name: str) -> str:
        """Return which language may read or set an accessor as a property."""
        stem = next((name[len(prefix) :] for prefix in ("get", "set", "is") if name.startswith(prefix)), "")
        held = self._view.files_with(stem[:1].lower() + stem[1:]) if stem[:1].isupper() else ()
        return "Kotlin, which reads it as a property," if any(path.endswith((".kt", ".kts")) for path in held) else ""

    def _component(self, member: Bound, facts: Facts) -> Bound | None:
        """Return the component of a record that a member is, reads, or, as a parameter, sets."""
        if self._types.is_component(member):
            return member
        scope = facts.scopes[member.scope].parent
        same = Bound(member.file, scope, member.name)
        return same if scope >= 0 and self._types.is_component(same) and self._parameter(same) == member else None

    def _parameter(self, component: Bound) -> Bound | None:
        """Return the parameter that a record's canonical constructor, if it is written out, has for a component."""
        facts = self._view.facts(component.file)
        index = facts.scopes[component.scope].definition if facts is not None else -1
        if facts is None or index < 0 or not self._types.is_component(component):
            return None
        record = facts.definitions[index]
        kinds = self._types.parameter_types(component.file, record)
        for position in facts.definitions_in(component.scope, record.name):
            made = Bound(component.file, facts.body_of.get(position, 0), component.name)
            if self._types.parameter_types(made.file, facts.definitions[position]) == kinds and facts.rows(
                made.scope, made.name
            ):
                return made
        return None

    def _generator(self, member: Bound) -> str:
        """Return what generates code from a member; empty if nothing does."""
        facts = self._view.facts(member.file)
        owner = self._classes.of_scope(member.file, facts, member.scope) if facts is not None else None
        around = modifiers(self._classes.node(owner)) if owner is not None and owner.name else set()
        for _, definition in self._view.definitions(member):
            mine = self._modifiers(member.file, definition)
            if definition.kind == "method":
                found = generator_of_method(mine, around)
            else:
                found = generator_of_field(self._view, member.file, member.name, mine | (around - {"static"}))
            if found:
                return found
        return ""

    def _by_name(self, name: str, methods: list[Definition], path: str) -> str:
        if name in SERIALIZATION:
            return "serialization"
        if name == "main" and any(self._types.parameter_types(path, method) in _MAIN for method in methods):
            return "the command that starts a program"
        return ""

    def below(self, of: Bound) -> list[Bound]:
        """Return the classes that name a class as what they extend or implement."""
        if of not in self._below:
            self._below[of] = list(self._find_below(of)) if of.name else []
        return self._below[of]

    def _find_below(self, of: Bound) -> Iterator[Bound]:
        name = of.name.encode()
        for path in self._view.files_with(of.name):
            facts = self._view.facts(path) if path.endswith(".java") else None
            if facts is None:
                continue
            content = self._view.text(path)
            for scope, scope_facts in enumerate(facts.scopes):
                if scope_facts.kind != "class":
                    continue
                definition = facts.definitions[scope_facts.definition] if scope_facts.definition >= 0 else None
                if definition is not None and definition.kind in TYPES:
                    if definition.bases is None or content.find(name, *definition.bases) < 0:
                        continue
                elif (
                    definition is None
                    and name not in content[max(0, scope_facts.start - _MAX_MODIFIERS) : scope_facts.start]
                ):
                    continue
                heir = self._classes.of_scope(path, facts, scope)
                if any(above is not None and above.of == of for above in self._classes.supers(heir)):
                    yield heir

    def _has(self, of: Bound, name: str) -> bool:
        """Whether a class declares a method that others may override or implement, or a record's component."""
        there = self._classes.declarations(of, name)
        methods = [method for method in there if method.kind == "method" and not self._is_own(of.file, method)]
        return bool(methods) or (bool(there) and self._types.is_component(Bound(of.file, self._classes.body(of), name)))

    def _is_own(self, path: str, method: Definition) -> bool:
        """Whether nothing can override a method: it is private or static."""
        return bool(self._modifiers(path, method) & {"private", "static"})

    def _modifiers(self, path: str, method: Definition) -> set[str]:
        node = self._view.node(path, method.name_at, method.name_at + len(method.name.encode()))
        made = node.parent if node is not None else None
        # The modifiers of a field stand before its type, around the declarator.
        made = made.parent if made is not None and made.type == "variable_declarator" else made
        return modifiers(made)

    def _outside(self, family: list[Bound], name: str) -> str:
        """Return the type from outside that asks for a method of a name; empty if none does."""
        if is_of_object(name):
            return "Object"
        if name in SERIALIZATION:
            return "serialization"
        for of in family:
            if not self._has(of, name):
                continue
            above = self._classes.ancestors(Type(of))
            bases = [ancestor.of.source for ancestor in above if isinstance(ancestor.of, Outside)]
            if not self._classes.is_whole(Type(of)):
                return f"a base of {of.name or 'a class without a name'}"
            asking = [base for base in bases if may_have(base, name)]
            if not asking:
                continue
            methods = [method for method in self._classes.declarations(of, name) if method.kind == "method"]
            marked = any("@Override" in self._modifiers(of.file, method) for method in methods)
            promised = any(isinstance(ancestor.of, Bound) and self._has(ancestor.of, name) for ancestor in above[1:])
            if (marked and not promised) or (not marked and not self._marks_others(of, name)):
                return asking[0]
        return ""

    def _marks_others(self, of: Bound, name: str) -> bool:
        """Whether a class marks another method with @Override, so that one without it overrides nothing outside."""
        facts, body = self._view.facts(of.file), self._classes.body(of)
        methods = (
            [definition for definition in facts.definitions if definition.scope == body and definition.kind == "method"]
            if facts
            else []
        )
        return any("@Override" in self._modifiers(of.file, method) for method in methods if method.name != name)


_MAIN = frozenset({("String[]",), ("String...",)})
