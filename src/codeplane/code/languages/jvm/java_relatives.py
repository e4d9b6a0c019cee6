"""The methods of Java that keep one name: what overrides or implements each other."""

from collections.abc import Iterator

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.jvm.java_classes import TYPES, JavaClasses, Type, is_of_object, may_have, text
from codeplane.code.languages.jvm.java_library import SERIALIZATION
from codeplane.code.languages.jvm.java_types import JavaTypes
from codeplane.code.languages.member_resolver import CodeView, Relatives
from codeplane.code.model import Definition

_MAX_CLASSES = 3_000
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
        mine = [one for _, one in self._view.definitions(member) if one.kind == "method"]
        facts = self._view.facts(member.file)
        if facts is None:
            return Relatives()
        if mine and all(self._is_own(member.file, one) for one in mine):
            return Relatives(outside=self._by_name(member.name, mine, member.file))
        if not mine and self._view.definitions(member) and not self._types.is_component(member):
            return Relatives()
        owner = self._classes.of_scope(member.file, facts, member.scope)
        family = self._family(owner, member.name)
        bounds = [Bound(of.file, self._classes.body(of), member.name) for of in family if self._has(of, member.name)]
        return Relatives(
            members=tuple(one for one in dict.fromkeys(bounds) if one != member),
            outside=self._outside(family, member.name),
        )

    def _by_name(self, name: str, methods: list[Definition], path: str) -> str:
        if name in SERIALIZATION:
            return "serialization"
        if name == "main" and any(self._types.parameter_types(path, one) in _MAIN for one in methods):
            return "the command that starts a program"
        return ""

    def _family(self, first: Bound, name: str) -> list[Bound]:
        """Return the classes that share a method: all that have it, and those through which they come together."""
        found: dict[Bound, None] = {}
        waiting = [first]
        while waiting and len(found) < _MAX_CLASSES:
            of = waiting.pop()
            if of in found:
                continue
            found[of] = None
            for above in self._classes.ancestors(Type(of))[1:]:
                if isinstance(above.of, Bound) and above.of not in found and self._has(above.of, name):
                    waiting.append(above.of)
            waiting += (below for below in self.below(of) if below not in found)
        return list(found)

    def below(self, of: Bound) -> list[Bound]:
        """Return the classes that name a class as what they extend or implement."""
        if of not in self._below:
            self._below[of] = list(self._find_below(of)) if of.name else []
        return self._below[of]

    def _find_below(self, of: Bound) -> Iterator[Bound]:
        name = of.name.encode()
        for path in self._view.holding(of.name):
            facts = self._view.facts(path) if path.endswith(".java") else None
            if facts is None:
                continue
            content = self._view.text(path)
            for scope, one in enumerate(facts.scopes):
                if one.kind != "class":
                    continue
                definition = facts.definitions[one.definition] if one.definition >= 0 else None
                if definition is not None and definition.kind in TYPES:
                    if definition.bases is None or content.find(name, *definition.bases) < 0:
                        continue
                elif definition is None and name not in content[max(0, one.start - _MAX_MODIFIERS) : one.start]:
                    continue
                heir = self._classes.of_scope(path, facts, scope)
                if any(above is not None and above.of == of for above in self._classes.supers(heir)):
                    yield heir

    def _has(self, of: Bound, name: str) -> bool:
        """Whether a class declares a method that others may override or implement, or a record's component."""
        there = self._classes.declared(of, name)
        methods = [one for one in there if one.kind == "method" and not self._is_own(of.file, one)]
        return bool(methods) or (bool(there) and self._types.is_component(Bound(of.file, self._classes.body(of), name)))

    def _is_own(self, path: str, method: Definition) -> bool:
        """Whether nothing can override a method: it is private or static."""
        return bool(self._modifiers(path, method) & {"private", "static"})

    def _modifiers(self, path: str, method: Definition) -> set[str]:
        node = self._view.node(path, method.name_at, method.name_at + len(method.name.encode()))
        made = node.parent if node is not None else None
        listed = next((one for one in made.children if one.type == "modifiers"), None) if made is not None else None
        found = {one.type for one in listed.children} if listed is not None else set()
        names = [one.child_by_field_name("name") for one in listed.named_children] if listed is not None else []
        return found | {f"@{text(one).rpartition('.')[2]}" for one in names if one is not None}

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
            bases = [one.of.source for one in above if isinstance(one.of, Outside)]
            if not self._classes.is_whole(Type(of)):
                return f"a base of {of.name or 'a class without a name'}"
            asking = [one for one in bases if may_have(one, name)]
            if not asking:
                continue
            methods = [one for one in self._classes.declared(of, name) if one.kind == "method"]
            marked = any("@Override" in self._modifiers(of.file, one) for one in methods)
            promised = any(isinstance(one.of, Bound) and self._has(one.of, name) for one in above[1:])
            if (marked and not promised) or (not marked and not self._marks_others(of, name)):
                return asking[0]
        return ""

    def _marks_others(self, of: Bound, name: str) -> bool:
        """Whether a class marks another method with @Override, so that one without it overrides nothing outside."""
        facts, body = self._view.facts(of.file), self._classes.body(of)
        methods = [one for one in facts.definitions if one.scope == body and one.kind == "method"] if facts else []
        return any("@Override" in self._modifiers(of.file, one) for one in methods if one.name != name)


_MAIN = frozenset({("String[]",), ("String...",)})
