"""The subject of a rename: the bindings of one symbol, and what kind of symbol it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from codeplane.code.entity import Bound
from codeplane.code.languages.language import Language
from codeplane.code.languages.python.evidence import decorators
from codeplane.code.model import REASONS, Definition, Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.kernel.errors import NotRefactorable
from codeplane.query.search.symbols import Target
from codeplane.refactor.rename.alias import is_alias
from codeplane.refactor.rename.new_name import is_dunder

Sort = Literal["top", "member", "parameter", "local"]
_PARAM, _IMPORT = REASONS.index("PARAM"), REASONS.index("IMPORT_ALIAS")
_FURTHER_OUT = frozenset({REASONS.index("GLOBAL"), REASONS.index("NONLOCAL")})
_OPEN = frozenset({"enum", "interface", "namespace", "object", "struct", "trait"})
_COMMENTS = (b"#", b"//", b"/*", b"*", b"--", b";", b"<!--")
_GENERATED = re.compile(rb"@generated\b|\bDO NOT EDIT\b|\b[Gg]enerated (?:by|from) .{0,80}(?i:do not (?:edit|modify))")
_HEAD = 1500
_FIXTURE = re.compile(rb"^\s*@(?:[\w.]+\.)?fixture\b", re.MULTILINE)
# What is inside of these is no name of the declaration that they belong to.
_MEMBERS = ("class_body", "formal_parameters", "interface_body", "object_type")
_AUGMENTS = re.compile(rb"declare\s+(?:global\b|module\s*[\"'])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A symbol to rename; `bounds`: all its bindings, the requested one first.

    `owner`: the class of a member; `function`: the function of a parameter; `branches`: the same parameter in other
    definitions of that function, which calls by keyword mean as well. `loose`: a member of an unnamed object, so that
    others of its name in the file are something else.
    """

    bounds: tuple[Bound, ...]
    facts: Facts
    language: Language
    definition: Definition | None
    sort: Sort
    owner: Bound | None = None
    function: Bound | None = None
    branches: tuple[Bound, ...] = ()
    loose: bool = False

    @property
    def bound(self) -> Bound:
        """The requested binding."""
        return self.bounds[0]

    @property
    def name(self) -> str:
        """The present name."""
        return self.bounds[0].name

    @property
    def at(self) -> int:
        """The offset of a definition or binding."""
        if self.definition is not None:
            return self.definition.name_at
        row = self.facts.rows_by_binding.get((self.bound.scope, self.bound.name), [0])[0]
        return self.facts.bind_at(row)


def subject_of(world: World, resolver: Resolver, target: Target) -> Subject:
    """Return the subject of a target, refused if it cannot be renamed here."""
    facts = _facts(world, target.bound.file)
    bound = _outer_binding(resolver, facts, target.bound)
    language = world.language(facts)
    if language.reserved is None:
        raise NotRefactorable(f"names in {language.name} have no references", hint="edit the files by text instead")
    definition = target.definition if bound == target.bound else None
    if definition is None:
        definition = next((definition for _, definition in resolver.definitions(bound)), None)
    if definition is not None and definition.kind == "module":
        raise NotRefactorable(f"{bound.name} is a module", hint="a module is renamed by moving its file")
    rows = facts.rows_by_binding.get((bound.scope, bound.name), [])
    reasons = {facts.bind_reason(row) for row in rows}
    if definition is None and reasons <= {_IMPORT} and not is_alias(facts, bound):
        raise NotRefactorable(
            f"{bound.name} in {path_text(bound.file)} is brought from elsewhere",
            hint="rename it where it is defined; a module is renamed by moving its file",
        )
    scope = facts.scopes[bound.scope]
    member = scope.kind in language.methods_in or scope.kind in _OPEN
    # A binding in a type is a type parameter.
    member = member and not (scope.kind == "type" and reasons)
    owner = _holder(facts, bound) if member else None
    sort: Sort = "member" if member else "parameter" if _PARAM in reasons else "top" if not bound.scope else "local"
    function = _holder(facts, bound) if sort == "parameter" else None
    function = _outer_binding(resolver, facts, function) if function is not None else None
    subject = Subject(
        bounds=(bound,),
        facts=facts,
        language=language,
        definition=definition,
        sort=sort,
        owner=owner,
        function=function,
        loose=_is_loose(facts, language, bound, definition, member=member),
    )
    _refuse(world, resolver, subject)
    _refuse_augmentation(world, resolver, subject)
    siblings = tuple(dict.fromkeys(_siblings(subject)))
    overloaded = _is_overloaded(world, resolver, subject)
    bounds = [
        bound,
        *(siblings if overloaded else ()),
        *_stub_bindings(world, subject),
        *_parameter_properties(subject),
    ]
    return replace(subject, bounds=tuple(dict.fromkeys(bounds)), branches=() if overloaded else siblings)


def _is_loose(facts: Facts, language: Language, bound: Bound, definition: Definition | None, *, member: bool) -> bool:
    if definition is None or not language.names.object_literals or member:
        return False
    rows = facts.rows_by_binding.get((bound.scope, bound.name), ())
    bound_there = any(facts.bind_at(row) == definition.name_at for row in rows)
    return not bound_there and definition.kind in ("method", "field", "property", "function")


def _outer_binding(resolver: Resolver, facts: Facts, bound: Bound) -> Bound:
    """Return the binding itself, or the outer one that `global` or `nonlocal` refers to."""
    rows = facts.rows_by_binding.get((bound.scope, bound.name), [])
    if not any(facts.bind_reason(row) in _FURTHER_OUT for row in rows):
        return bound
    return resolver.lexical(bound.file, facts, facts.bind_at(rows[0]), bound.name) or bound


def is_generated(text: bytes) -> bool:
    """Whether a file says that it is generated, in a comment or docstring: a string may be what it generates."""
    for match in _GENERATED.finditer(text, 0, _HEAD):
        line = text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if b"=" not in line or line.lstrip().startswith(_COMMENTS):
            return True
    return False


def is_fixture(world: World, path: str, definition: Definition) -> bool:
    """Whether a function is a test fixture."""
    return _FIXTURE.search(decorators(world.text(path), definition)) is not None


def first_parameter(facts: Facts, scope: int) -> int:
    """Return the offset of the first parameter of a function, or -1."""
    return facts.first_parameters.get(scope, -1)


def _facts(world: World, path: str) -> Facts:
    known = world.snapshot.files.get(path)
    facts = world.facts(path) if known is not None and known.skipped is None else None
    if facts is None:
        raise NotRefactorable(f"{path_text(path)} is not parsed here")
    if is_copy(path):
        raise NotRefactorable(
            f"{path_text(path)} is built or brought along", hint="rename it in the source this file is made from"
        )
    if is_generated(world.text(path)):
        raise NotRefactorable(f"{path_text(path)} says that it is generated", hint="change what generates it")
    return facts


def _refuse_augmentation(world: World, resolver: Resolver, subject: Subject) -> None:
    """Refuse what adds to a declaration of another module, or of the platform: its name is that one's."""
    bound, text = subject.bound, world.text(subject.bound.file)
    if not subject.language.names.types_and_values or b"declare" not in text:
        return
    at = subject.at
    node = resolver.syntax.node(bound.file, at, at + len(bound.name.encode()))
    while node is not None and node.type not in ("ambient_declaration", *_MEMBERS):
        node = node.parent
    if node is not None and node.type not in _MEMBERS and _AUGMENTS.match(text, node.start_byte):
        raise NotRefactorable(
            f"{bound.name} adds to what is declared elsewhere",
            hint="rename it where that is declared, and here by text",
        )


def _refuse(world: World, resolver: Resolver, subject: Subject) -> None:
    name = subject.name
    rules, title = subject.language.names, subject.language.title
    if name in rules.special_members and subject.sort == "member":
        raise NotRefactorable(f"{title} itself looks for {name}", hint="rename the class instead")
    if rules.special_names and is_dunder(name) and subject.sort in ("member", "top"):
        raise NotRefactorable(f"{title} itself looks for {name}", hint="only names that code of yours uses can change")
    if name in rules.called_by_language and subject.sort == "top":
        raise NotRefactorable(f"{title} itself calls {name}", hint="only names that code of yours uses can change")
    subject_definition = subject.definition
    if subject_definition is not None and is_operator(
        subject.language, world.text(subject.bound.file), subject_definition
    ):
        raise NotRefactorable(f"{title} itself calls {name} for an operator", hint="rename the class instead")
    if rules.symbols and name.endswith("="):
        raise NotRefactorable(f"assignments call {name}", hint="rename it and the assignments by text")
    if rules.fixtures and subject.sort == "parameter" and subject.function is not None and is_test(subject.bound.file):
        asking = next((definition for _, definition in resolver.definitions(subject.function)), None)
        named = asking is not None and asking.name.startswith("test")
        if asking is not None and (named or is_fixture(world, subject.bound.file, asking)):
            first = first_parameter(subject.facts, subject.bound.scope) == subject.at
            if not first or subject.facts.scopes[asking.scope].kind != "class":
                raise NotRefactorable(
                    f"{name} of {asking.name} is filled in by its name", hint=f"rename the fixture {name} itself"
                )


def is_operator(language: Language, text: bytes, definition: Definition) -> bool:
    """Whether a function is marked as one that an operator calls."""
    word = language.names.operator_word.encode()
    return (
        bool(word)
        and definition.kind in ("function", "method")
        and word in text[definition.start : definition.name_at].split()
    )


def _holder(facts: Facts, bound: Bound) -> Bound | None:
    """Return the definition whose scope a binding is in."""
    of = facts.scopes[bound.scope].definition
    if of < 0:
        return None
    return Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name)


def _siblings(subject: Subject) -> Iterator[Bound]:
    """Yield the same parameter in overloads and other branches, which a call by keyword means too."""
    function, facts = subject.function, subject.facts
    if function is None or not subject.language.names.named_arguments:
        return
    for index in facts.definitions_by_binding.get((function.scope, function.name), ()):
        body = facts.body_of.get(index, -1)
        rows = facts.rows_by_binding.get((body, subject.name), ())
        if body >= 0 and any(facts.bind_reason(row) == _PARAM for row in rows):
            yield Bound(function.file, body, subject.name)


def _is_overloaded(world: World, resolver: Resolver, subject: Subject) -> bool:
    """Whether a parameter's function is declared several times for its types."""
    function = subject.function
    if function is None:
        return False
    text = world.text(function.file)
    return any(b"overload" in decorators(text, definition) for _, definition in resolver.definitions(function))


def _stub_bindings(world: World, subject: Subject) -> Iterator[Bound]:
    """Yield the same symbol in the stub of a module, or in the module of a stub."""
    path = subject.bound.file
    endings = subject.language.names.stubs
    if endings is None or subject.sort == "local" or not path.endswith(endings):
        return
    module, stub = endings
    other = f"{path.removesuffix(stub)}{module}" if path.endswith(stub) else f"{path.removesuffix(module)}{stub}"
    if other not in world.snapshot.files:
        return
    facts = world.facts(other)
    if facts is None:
        return
    if subject.function is not None:
        around = [
            definition.path
            for index, definition in enumerate(subject.facts.definitions)
            if subject.facts.body_of.get(index) == subject.bound.scope
        ]
        for index, definition in enumerate(facts.definitions):
            body = facts.body_of.get(index, -1)
            if definition.path in around and facts.rows_by_binding.get((body, subject.name)):
                yield Bound(other, body, subject.name)
    elif subject.definition is not None:
        for definition in facts.definitions:
            if definition.path == subject.definition.path:
                yield Bound(other, definition.scope, definition.name)


def _parameter_properties(subject: Subject) -> Iterator[Bound]:
    """Yield the field that a constructor's parameter declares, or that parameter: both are one symbol."""
    facts, at = subject.facts, subject.at
    if not subject.language.names.parameter_properties:
        return
    if subject.sort == "member":
        for row, name in enumerate(facts.bind_names):
            if name == subject.name and facts.bind_at(row) == at:
                yield Bound(subject.bound.file, facts.bind_scope(row), name)
    elif subject.sort == "parameter":
        for definition in facts.definitions:
            if definition.name_at == at and definition.kind == "field":
                yield Bound(subject.bound.file, definition.scope, definition.name)
