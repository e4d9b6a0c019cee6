"""The members of C# that keep one name: what overrides or implements each other, and the parts of partial types."""

from collections.abc import Iterator

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.class_family import class_family
from codeplane.code.languages.declared_type import Type
from codeplane.code.languages.dotnet.classes import TYPES, CSharpClasses, Node, text
from codeplane.code.languages.dotnet.library import BY_PATTERN, OBJECT_MEMBERS, QUERY, is_interface, may_have
from codeplane.code.languages.member_resolver import CodeView, Relatives
from codeplane.code.model import Definition

_ATTRIBUTE = "Attribute"


class CSharpRelatives:
    """Finds the members of a name that one inheritance tree shares."""

    def __init__(self, view: CodeView, classes: CSharpClasses) -> None:
        self._view = view
        self._classes = classes
        self._below: dict[Bound, list[Bound]] = {}

    def of(self, member: Bound) -> Relatives:
        """Return what is renamed with a member or type."""
        facts = self._view.facts(member.file)
        mine = [definition for _, definition in self._view.definitions(member)]
        if facts is not None and not mine and (twins := self._parameter_twins(member)):
            return Relatives(members=twins)
        if facts is None or not mine:
            return Relatives()
        if any(definition.kind in TYPES for definition in mine):
            others = tuple(part for part in self._classes.parts(member) if part != member)
            return Relatives(members=others, outside=self._by_ending(member.name))
        if facts.scopes[member.scope].kind != "class":
            return Relatives()
        owner = self._classes.of_scope(member.file, facts, member.scope)
        family = (
            class_family(
                owner,
                ancestors=self._classes.ancestors,
                below=self.below,
                has_member=lambda of: self._has(of, member.name),
                parts=self._classes.parts,
            )
            if self._is_shared(member.file, mine)
            else [owner]
        )
        bounds = [bound for of in family for bound, _ in self._classes.declarations(of, member.name)]
        return Relatives(
            members=tuple(bound for bound in dict.fromkeys(bounds) if bound != member),
            outside=self._outside(family, member.name),
        )

    def _parameter_twins(self, parameter: Bound) -> tuple[Bound, ...]:
        """Return a type parameter in the other parts of its type, which all have to name it alike."""
        facts = self._view.facts(parameter.file)
        rows = facts.rows(parameter.scope, parameter.name) if facts is not None else ()
        if facts is None or not any(
            self._classes.is_parameter(parameter.file, facts.bind_at(row), parameter.name) for row in rows
        ):
            return ()
        of = self._classes.of_scope(parameter.file, facts, parameter.scope)
        bodies = self._classes.bodies(of) if of.name else ()
        twins = (Bound(path, body, parameter.name) for path, there, body in bodies if there.rows(body, parameter.name))
        return tuple(twin for twin in dict.fromkeys(twins) if twin != parameter)

    def _by_ending(self, name: str) -> str:
        """Return why a type cannot be renamed by its whole name alone: attributes are written without their ending."""
        short = name.removesuffix(_ATTRIBUTE)
        used = short not in ("", name) and any(path.endswith((".cs", ".csx")) for path in self._view.files_with(short))
        return f"attributes that are written {short}" if used else ""

    def below(self, of: Bound) -> list[Bound]:
        """Return the types that name a type as what they build on."""
        key = self._classes.parts(of)[0]
        if key not in self._below:
            self._below[key] = list(self._find_below(of))
        return self._below[key]

    def _find_below(self, of: Bound) -> Iterator[Bound]:
        parts, name = self._classes.parts(of), of.name.encode()
        for path in self._view.files_with(of.name):
            facts = self._view.facts(path) if path.endswith((".cs", ".csx")) else None
            content = self._view.text(path) if facts is not None else b""
            for definition in facts.definitions if facts is not None else ():
                if (
                    definition.kind not in TYPES
                    or definition.bases is None
                    or content.find(name, *definition.bases) < 0
                ):
                    continue
                heir = Bound(path, definition.scope, definition.name)
                if any(above is not None and above.of in parts for above in self._classes.supers(heir)):
                    yield heir

    def _has(self, of: Bound, name: str) -> bool:
        there = self._classes.declarations(of, name)
        return any(self._is_shared(bound.file, [definition]) for bound, definition in there)

    def _is_shared(self, path: str, members: list[Definition]) -> bool:
        """Whether others may override or implement one of some members."""
        return any(not self._modifiers(path, member) & {"private", "static", "const"} for member in members)

    def _modifiers(self, path: str, definition: Definition) -> set[str]:
        node = self._view.node(path, definition.name_at, definition.name_at + len(definition.name.encode()))
        made: Node | None = node.parent if node is not None else None
        while made is not None and made.type in ("variable_declarator", "variable_declaration"):
            made = made.parent
        return {text(child) for child in made.children if child.type == "modifier"} if made is not None else set()

    def _outside(self, family: list[Bound], name: str) -> str:
        """Return what from outside asks for a member of a name; empty if nothing does."""
        if name in OBJECT_MEMBERS:
            return "object"
        if name in BY_PATTERN or (name in QUERY and self._view.files_with("from")):
            return "the language, which looks for that name"
        for of in family:
            mine = [(bound.file, definition) for bound, definition in self._classes.declarations(of, name)]
            if not mine:
                continue
            above = self._classes.ancestors(Type(of))
            if not self._classes.is_whole(Type(of)):
                return f"a base of {of.name}"
            outside = [ancestor.of.source for ancestor in above if isinstance(ancestor.of, Outside)]
            marks = set[str]().union(*(self._modifiers(path, definition) for path, definition in mine))
            asking = [base for base in outside if may_have(base, name)]
            interfaces = [base for base in asking if is_interface(base)]
            promised = any(isinstance(ancestor.of, Bound) and self._has(ancestor.of, name) for ancestor in above[1:])
            if interfaces and ("public" in marks or self._is_explicit(mine)):
                return interfaces[0]
            if "override" in marks and not promised:
                return asking[0] if asking else "a base that is not known"
        return ""

    def _is_explicit(self, members: list[tuple[str, Definition]]) -> bool:
        """Whether a member names the interface that it implements."""
        for path, member in members:
            node = self._view.node(path, member.name_at, member.name_at + len(member.name.encode()))
            made = node.parent if node is not None else None
            if made is not None and any(child.type == "explicit_interface_specifier" for child in made.children):
                return True
        return False
