"""The declarations of Kotlin that keep one name: what overrides or implements each other, and those for platforms."""

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.class_family import class_family
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.jvm.java_processors import modifiers
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses, is_kotlin
from codeplane.code.languages.jvm.kotlin_lookup import KotlinLookup
from codeplane.code.languages.member_resolver import CodeView, Relatives
from codeplane.code.model import Definition


class KotlinRelatives:
    """Finds the declarations of a name that are renamed together."""

    def __init__(self, view: CodeView, classes: KotlinClasses, lookup: KotlinLookup) -> None:
        self._view = view
        self._classes = classes
        self._lookup = lookup
        self._below: dict[Bound, list[Bound]] = {}

    def of(self, member: Bound) -> Relatives:
        """Return what is renamed with a declaration."""
        facts = self._view.facts(member.file)
        mine = [definition for _, definition in self._view.definitions(member)]
        if facts is None or not mine:
            return Relatives()
        if member.scope == 0:
            members = (*self._for_platforms(member, mine), *self._lookup.overloads(member))
            return Relatives(members=tuple(dict.fromkeys(members)))
        if facts.scopes[member.scope].kind != "class" or any(
            definition.kind in self._classes.kinds for definition in mine
        ):
            return Relatives()
        owner = self._classes.of_scope(member.file, facts, member.scope)
        family = class_family(
            owner,
            ancestors=self._classes.ancestors,
            below=self.below,
            has_member=lambda of: self._has(of, member.name),
            parts=self._classes.parts,
        )
        bounds = [Bound(of.file, self._classes.body(of), member.name) for of in family if self._has(of, member.name)]
        return Relatives(
            members=tuple(bound for bound in dict.fromkeys(bounds) if bound != member),
            outside=self._outside(family, member.name),
        )

    def _for_platforms(self, member: Bound, mine: list[Definition]) -> tuple[Bound, ...]:
        package = self._classes.package(member.file)
        if any(definition.kind in self._classes.kinds for definition in mine):
            found = self._classes.parts(member)
        else:
            found = self._lookup.callables(package, member.name)
        if not self._classes.is_for_platforms(member):
            return ()
        return tuple(bound for bound in found if bound != member and self._classes.is_for_platforms(bound))

    def below(self, of: Bound) -> list[Bound]:
        """Return the classes that name a class, or another name of it, as what they extend or implement."""
        if of not in self._below:
            self._below[of] = []
            names = [of.name, *self._aliases(of)] if of.name else []
            self._below[of] = [heir for name in names for heir in self._heirs(of, name)]
        return self._below[of]

    def _aliases(self, of: Bound) -> list[str]:
        """Return the other names that a class has by imports and aliases of types."""
        found = []
        for path in self._view.files_with(of.name):
            facts = self._view.facts(path) if is_kotlin(path) else None
            for import_ in facts.imports if facts is not None else ():
                if import_.imported == of.name and import_.alias:
                    found.append(import_.alias)
            for definition in facts.definitions if facts is not None else ():
                if definition.kind == "type":
                    found.append(definition.name)
        return list(dict.fromkeys(found))

    def _heirs(self, of: Bound, name: str) -> list[Bound]:
        found = []
        parts = self._classes.parts(of)
        for path in self._view.files_with(name):
            facts = self._view.facts(path) if path.endswith((".java", ".kt", ".kts")) else None
            for scope, scope_facts in enumerate(facts.scopes) if facts is not None else ():
                if scope_facts.kind != "class" or facts is None:
                    continue
                heir = self._classes.of_scope(path, facts, scope)
                if heir != of and any(above is not None and above.of in parts for above in self._classes.supers(heir)):
                    found.append(heir)
        return found

    def _has(self, of: Bound, name: str) -> bool:
        """Whether a class declares a member that others may override or implement."""
        there = [
            definition for definition in self._classes.declarations(of, name) if definition.kind in ("field", "method")
        ]
        return any(not self._marks(of.file, definition) & {"private", "static"} for definition in there)

    def _marks(self, path: str, definition: Definition) -> set[str]:
        made = self._classes.declaration(path, definition)
        return modifiers(made.parent if made is not None and made.type == "variable_declarator" else made)

    def _outside(self, family: list[Bound], name: str) -> str:
        """Return the type from outside that asks for a member of a name; empty if none does."""
        for of in family:
            if not self._has(of, name):
                continue
            above = self._classes.ancestors(Type(of))
            if not is_kotlin(of.file):
                if any(
                    isinstance(ancestor.of, Outside) and ancestor.of.source not in ("Any", "Object")
                    for ancestor in above
                ):
                    return f"a base of {of.name}"
                continue
            marked = any(
                "override" in self._marks(of.file, definition) for definition in self._classes.declarations(of, name)
            )
            promised = any(isinstance(ancestor.of, Bound) and self._has(ancestor.of, name) for ancestor in above[1:])
            if marked and not promised:
                bases = [
                    ancestor.of.source
                    for ancestor in above[1:]
                    if isinstance(ancestor.of, Outside) and ancestor.of.source != "Any"
                ]
                return bases[0] if bases else "Any"
        return ""
