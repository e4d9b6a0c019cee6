"""The declarations of TypeScript's types: what an alias stands for, the members of an interface or a class."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from codeplane.query.compare.outline import Outline
from codeplane.query.compare.tokens import closing_index, code_of, split_at
from codeplane.query.compare.type_finder import FindType
from codeplane.query.compare.type_parser import parse_object, parse_type
from codeplane.query.compare.type_terms import (
    UNREAD,
    Function,
    Intersection,
    Literal,
    Member,
    Named,
    Object,
    Opaque,
    Term,
    Union,
    Variable,
)

_CLASS_MEMBERS = frozenset({"field", "property"})
_GLOBAL_OBJECTS = frozenset({"Object"})


@dataclass(frozen=True, slots=True)
class FileScope:
    """A file in one state, and how the types that it names are found."""

    outline: Outline
    find: FindType

    def is_imported(self, name: str) -> bool:
        """Whether a file takes a name from elsewhere."""
        facts = self.outline.facts
        first = name.partition(".")[0]
        return facts is not None and any(item.local == first for item in facts.imports)


@dataclass(frozen=True, slots=True)
class _Declaration:
    kind: str
    parameters: tuple[tuple[str, Term | None, Term | None], ...]
    body: str
    bases: tuple[str, ...]
    scope: FileScope
    place: int


class Declarations:
    """Looks up the types that terms name."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], _Declaration | None] = {}

    def alias(self, term: Term) -> Term | None:
        """What a name stands for, if it is another name of a type."""
        declaration = self._declaration(term)
        if not isinstance(term, Named) or declaration is None or declaration.kind != "type":
            return None
        names = _substitution(declaration, term.arguments)
        return parse_type(declaration.body, declaration.scope, names) if names is not None else UNREAD

    def is_class(self, term: Term) -> bool:
        """Whether a type is a class or an enum of the repository."""
        declaration = self._declaration(term)
        return declaration is not None and declaration.kind in ("class", "enum")

    def members_at(self, scope: FileScope, place: int) -> Object | None:
        """The members of the interface at a place of a file."""
        return self._members(_declare(scope, scope.outline, place), ())

    def is_below(self, source: Named, target: Term, check: Callable[[Term, Term], bool | None]) -> bool:
        """Whether an interface or a class says that it builds on another."""
        declaration = self._declaration(source)
        bases = _bases(declaration, source.arguments) if declaration is not None else []
        return any(check(base, target) is True for base in bases)

    def of_outside(self, source: Term, target: Term) -> bool | None:
        """What is known of two types of which at least one is not declared here: names of others may be anything."""
        last = [term.name.rpartition(".")[2] for term in (source, target) if isinstance(term, Named)]
        if len(last) == 2 and last[0] == last[1]:
            return None
        for term in (source, target):
            if not isinstance(term, Named) or self._declaration(term) is not None:
                continue
            if "." in term.name or (isinstance(term.scope, FileScope) and term.scope.is_imported(term.name)):
                return None
        return False

    def members(self, term: Term) -> Object | None:
        """The members of a type that has some, as far as they are known."""
        if isinstance(term, Object):
            return term
        if isinstance(term, Intersection):
            return _merge([self._part(self.alias(part) or part) for part in term.parts])
        if not isinstance(term, Named):
            return None
        if term.name in ("Record", "Partial", "Required", "Omit", "Pick") and term.arguments:
            return self._derived(term)
        declaration = self._declaration(term)
        if declaration is None or declaration.kind == "enum":
            return None
        if declaration.kind == "type":
            written = self.alias(term)
            return self.members(written) if written is not None else None
        return self._members(declaration, term.arguments)

    def _members(self, declaration: _Declaration, arguments: Sequence[Term]) -> Object | None:
        names = _substitution(declaration, arguments)
        if names is None:
            return Object(is_partial=True)
        own = (
            parse_object(declaration.body, declaration.scope, names)
            if declaration.kind == "interface"
            else _class_members(declaration, names)
        )
        above = [self.members(base) or Object(is_partial=True) for base in _bases(declaration, arguments)]
        return _merge([*above, own], override=True)

    def _part(self, term: Term) -> Object | None:
        """The members of a part of an intersection; of what is not known here there may be any."""
        unknown = isinstance(term, Opaque | Variable) or (isinstance(term, Named) and term.name[:1].isupper())
        return self.members(term) or (Object(is_partial=True) if unknown else None)

    def _derived(self, term: Named) -> Object | None:
        held = term.arguments[-1] if term.name == "Record" else term.arguments[0]
        if term.name == "Record" and len(term.arguments) == 2:
            keys = self.alias(term.arguments[0]) or term.arguments[0]
            texts = _literals(keys)
            if texts is not None:
                return Object(tuple((text, Member(held)) for text in sorted(texts)))
            return Object(index=held, is_partial=keys != Named("string"))
        found = self.members(held)
        if found is None:
            return Object(is_partial=True)
        if term.name in ("Partial", "Required"):
            optional = term.name == "Partial"
            return replace(
                found, members=tuple((name, replace(each, optional=optional)) for name, each in found.members)
            )
        texts = _literals(term.arguments[1]) if len(term.arguments) == 2 else None
        if texts is None:
            return Object(is_partial=True)
        keep = term.name == "Pick"
        return replace(found, members=tuple((name, each) for name, each in found.members if (name in texts) == keep))

    def _declaration(self, term: Term) -> _Declaration | None:
        if not isinstance(term, Named) or not isinstance(term.scope, FileScope) or "." in term.name:
            return None
        key = id(term.scope.outline), term.name
        if key not in self._found:
            self._found[key] = _find(term.scope, term.name)
        return self._found[key]


def _find(scope: FileScope, name: str) -> _Declaration | None:
    located = scope.find(scope.outline, name)
    if located is None:
        known = scope.outline.rules.library_types.get(name)
        return _Declaration("type", (), known, (), scope, -1) if known is not None else None
    return _declare(scope, *located)


def _bases(declaration: _Declaration, arguments: Sequence[Term]) -> list[Term]:
    """What an interface or a class builds on."""
    names = _substitution(declaration, arguments) or {}
    return [parse_type(base.removeprefix("implements "), declaration.scope, names) for base in declaration.bases]


def _declare(scope: FileScope, home: Outline, place: int) -> _Declaration:
    inner = FileScope(home, scope.find)
    entity, header = home.entities[place], home.parts(place).header
    parameters = tuple(_parameter(part, inner) for part in split_at(header.generics.split(" ")[1:-1], ",", angles=True))
    tokens: list[str] = []
    if entity.definition is not None and home.facts is not None:
        start = entity.definition.name_at if entity.kind == "type" else entity.definition.body
        tokens = code_of(home.facts, home.text, [(start, entity.definition.end)])
    if entity.kind == "type":
        cut = _equals(tokens)
        tokens = tokens[cut + 1 :]
    while tokens[-1:] == [";"]:
        tokens.pop()
    return _Declaration(entity.kind, parameters, " ".join(tokens), header.bases, inner, place)


def _equals(tokens: Sequence[str]) -> int:
    """The place of the sign behind the type parameters of an alias."""
    at = 1
    if tokens[1:2] == ["<"]:
        at = closing_index(tokens, 1, "<", ">")
    return at


def _parameter(tokens: Sequence[str], scope: FileScope) -> tuple[str, Term | None, Term | None]:
    """The name of a type parameter, its bound and its default."""
    words = [token for token in tokens if token not in ("const", "in", "out")]
    cut = words.index("=") if "=" in words else len(words)
    bound = parse_type(" ".join(words[2:cut]), scope) if words[1:2] == ["extends"] else None
    return words[0], bound, parse_type(" ".join(words[cut + 1 :]), scope) if cut < len(words) else None


def _substitution(declaration: _Declaration, arguments: Sequence[Term]) -> dict[str, Term] | None:
    """What the type parameters of a declaration stand for; None if there are too many arguments."""
    if len(arguments) > len(declaration.parameters):
        return None
    names: dict[str, Term] = {}
    for at, (name, bound, default) in enumerate(declaration.parameters):
        if at < len(arguments):
            names[name] = arguments[at]
        else:
            names[name] = default or Variable(name, bound)
    return names


def _class_members(declaration: _Declaration, names: Mapping[str, Term]) -> Object:
    """The members of a class that users see."""
    home = declaration.scope.outline
    members: dict[str, Member] = {}
    for child in home.children.get(declaration.place, ()):
        entity, header = home.entities[child], home.parts(child).header
        hidden = {"private", "protected", "static"} & header.modifiers or entity.name.startswith("#")
        if hidden or entity.name == "constructor":
            continue
        is_value = entity.kind in _CLASS_MEMBERS or "get" in header.modifiers
        type_ = parse_type(header.returns, declaration.scope, names) if is_value and header.returns else UNREAD
        members[entity.name] = Member(type_, header.optional)
    return Object(tuple(sorted(members.items())), is_partial=False)


def _merge(objects: Iterable[Object | None], *, override: bool = False) -> Object | None:
    """Several object types at once; with `override` the members of the last come before those of others."""
    members: dict[str, Member] = {}
    index: Term | None = None
    calls: tuple[Function, ...] = ()
    is_partial = False
    for each in objects:
        if each is None:
            return None
        for name, member in each.members:
            known = members.get(name)
            if known is None or override or known == member:
                members[name] = member
            else:
                both = Intersection((known.type, member.type)) if known.type != member.type else member.type
                members[name] = Member(both, known.optional and member.optional)
        index = each.index or index
        calls += each.calls
        is_partial = is_partial or each.is_partial
    return Object(tuple(sorted(members.items(), key=lambda item: item[0])), index, calls, is_partial)


def _literals(term: Term) -> set[str] | None:
    parts = term.parts if isinstance(term, Union) else (term,)
    texts = {part.text.strip("'") for part in parts if isinstance(part, Literal)}
    return texts if len(texts) == len(parts) else None
