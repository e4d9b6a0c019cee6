"""The outline of one version of a file: the definitions visible from outside, with their headers and bodies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from codeplane.code.languages.contract import Contract, Visibility
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import LANGUAGES, language_named
from codeplane.code.model import Definition, Facts
from codeplane.index.path_kinds import is_test
from codeplane.query.compare.generators import yields
from codeplane.query.compare.header import Header, HeaderTokens, parse_header
from codeplane.query.compare.public_surface import PublicSurface
from codeplane.query.compare.reexports import PackageReexports, is_private, reexported_names
from codeplane.query.compare.rules import CALLABLES
from codeplane.query.compare.source_scan import (
    decorated_start,
    lazy_names,
    start_of,
    trait_impls,
    type_only,
    unnamed_namespaces,
)
from codeplane.query.compare.tokens import Span, body_of, closing_index, code_of, without_docstring

_MERE = frozenset({",", ";", "{", "}", "pass", "...", "\x02", "\x03"})
# What is nested deeper is part of what it is in.
_DEEPEST = 40
_PLACES = frozenset({"namespace", "module"})
# What can have its constructor's parameters in its head, each of which is a field, too.
_HEADED = frozenset({"class", "record", "struct", "enum", "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A compared definition; `parent` is its container's place in the outline, or -1."""

    kind: str
    name: str
    path: str
    parent: int
    signature: str
    line: int
    definition: Definition | None = None
    position: int = -1
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """An entity's header and the tokens of its body."""

    header: Header
    body: tuple[str, ...]


class Outline:
    """The entities of one version of a file; headers and bodies are parsed on demand."""

    def __init__(self, path: str, text: bytes, facts: Facts) -> None:
        self.path = path
        self.text = text
        self.facts: Facts | None = facts
        self.language: Language = LANGUAGES[facts.language]
        self.rules: Contract = self.language.contract
        self.entities: list[Entity] = []
        # What packages around it give away, where somebody knows.
        self.passing: PackageReexports | None = None
        # What its package gives to users, where a manifest says it.
        self.surface: PublicSurface | None = None
        self.is_program = False
        self._outer: list[int] = []
        self._parts: dict[int, Parts] = {}
        # A cache of `visibility_of`.
        self.visibilities: dict[int, Visibility] = {}
        self._take(facts)

    @classmethod
    def of_rows(cls, path: str, language: str, rows: Iterable[Sequence[object]]) -> "Outline":
        """Build an outline from an epoch's rows (kind, name, lexical path, signature, line), without text."""
        made = cls.__new__(cls)
        made.path, made.text, made.facts, made.language = path, b"", None, language_named(language)
        made.passing, made.surface, made.is_program = None, None, False
        made.rules, made._outer, made._parts = made.language.contract, [], {}
        made.entities, made.visibilities = [], {}
        places: dict[str, int] = {}
        closed: set[str] = set()
        for kind, name, lexical, signature, line in rows:
            above = str(lexical).rpartition(".")[0]
            if above in closed or above.rpartition(".")[0] in closed:
                closed.add(str(lexical))
                continue
            if kind in CALLABLES:
                closed.add(str(lexical))
            around = made.entities[places[above]].kind if above in places else ""
            if kind == "field" and around == "type" and made.rules.object_types:
                continue
            places.setdefault(str(lexical), len(made.entities))
            made.entities.append(
                Entity(
                    kind=str(kind),
                    name=str(name),
                    path=str(lexical),
                    parent=places.get(above, -1) if above else -1,
                    signature=str(signature),
                    line=int(str(line)),
                )
            )
        return made

    @property
    def known(self) -> bool:
        """Whether the text is available."""
        return self.facts is not None

    @property
    def errors(self) -> int:
        """The line of the first syntax error, or 0."""
        return self.facts.errors if self.facts is not None else 0

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each entity."""
        children: dict[int, list[int]] = {}
        for place, entity in enumerate(self.entities):
            if entity.parent >= 0:
                children.setdefault(entity.parent, []).append(place)
        return children

    @cached_property
    def named(self) -> dict[tuple[int, str, str], list[int]]:
        """The entities by parent, kind and name."""
        places_by_name: dict[tuple[int, str, str], list[int]] = {}
        for place, entity in enumerate(self.entities):
            places_by_name.setdefault((entity.parent, entity.kind, entity.name), []).append(place)
        return places_by_name

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names a file exports explicitly, as spelled inside it."""
        if self.facts is None:
            return frozenset()
        return frozenset(export.local or export.name for export in self.facts.exports if not export.source)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names available from the file, defined or imported."""
        defined = {entity.name for entity in self.entities if entity.parent < 0}
        if self.facts is None:
            return frozenset(defined)
        given = {export.name for export in self.facts.exports}
        if self.rules.package_marker:
            given |= lazy_names(self.text)
        if self.rules.visible != "exported":
            return frozenset(given | defined | {item.local for item in self.facts.imports if item.scope == 0})
        # What such a file imports, or keeps to itself, is to be had by nobody else.
        return frozenset(given if given else defined)

    @cached_property
    def type_only(self) -> frozenset[str]:
        """The names of which a script exports only the type."""
        return type_only(self.text) if self.rules.visible == "exported" else frozenset()

    @cached_property
    def implemented(self) -> frozenset[tuple[str, str]]:
        """The (trait, type) pairs of the `impl` blocks in a Rust file, of traits that users may know."""
        pairs = trait_impls(self.text) if self.language.classes.traits else frozenset[tuple[str, str]]()
        package = self.package
        return frozenset(pair for pair in pairs if package is None or package.is_trait_seen(self.path, pair[0]))

    @cached_property
    def unnamed(self) -> tuple[Span, ...]:
        """The spans of unnamed C++ namespaces."""
        return unnamed_namespaces(self.text) if self.rules.unnamed_namespaces else ()

    @cached_property
    def run_only(self) -> tuple[Span, ...]:
        """The spans that nobody runs who imports the file."""
        if self.rules.run_only is None or self.facts is None:
            return ()
        return self.rules.run_only(self.text, self.facts.in_text)

    def export_names(self, place: int) -> frozenset[str]:
        """The names under which a definition is exported."""
        name = self.entities[place].name
        if self.facts is None or self.rules.visible != "exported" or self.entities[place].kind == "export":
            return frozenset({name})
        names = {
            export.name for export in self.facts.exports if not export.source and (export.local or export.name) == name
        }
        return frozenset(names or {name})

    @cached_property
    def passed_on(self) -> tuple[str, ...]:
        """The modules whose names the file re-exports wholesale."""
        exports = self.facts.exports if self.facts is not None else ()
        return tuple(export.source for export in exports if export.name == "*" and export.source)

    def own_bytes(self, place: int) -> bytes:
        """An entity's own bytes, without its children's."""
        entity = self.entities[place]
        if entity.definition is None:
            return entity.source.encode()
        start, end = self._outer[place], entity.definition.end
        stretches = [self.text[first:last] for first, last in self._own_spans(place, start, end)]
        stretches += sorted(
            trait.encode() for trait, name in self.implemented if name == entity.name and entity.parent < 0
        )
        if entity.name in self.type_only:
            stretches.append(b"type")
        if entity.kind in _HEADED:
            # The order of what is in its head counts, too.
            stretches += [self.entities[child].name.encode() for child in self.children.get(place, ())]
        return b"\0".join(stretches)

    def span(self, place: int) -> bytes:
        """All of an entity's bytes."""
        entity = self.entities[place]
        return self.text[entity.definition.start : entity.definition.end] if entity.definition is not None else b""

    def parts(self, place: int) -> Parts:
        """The parsed header and body of an entity."""
        parts = self._parts.get(place)
        if parts is None:
            parts = self._parts[place] = self._split_parts(place)
        return parts

    def is_inside_callable(self, place: int) -> bool:
        """Whether an entity's text lies in a sibling method, as `self.name = …` does."""
        definition = self.entities[place].definition
        if definition is None or definition.kind != "field":
            return False
        among = self.children.get(self.entities[place].parent, ())
        return any(
            (other := self.entities[place].definition) is not None
            and other.kind in CALLABLES
            and other.start <= definition.start
            and definition.end <= other.end
            for place in among
        )

    @cached_property
    def is_private_module(self) -> bool:
        """Whether the file or a folder above it is private by name."""
        return is_private(self.path)

    def is_passed_on(self, name: str) -> bool:
        """Whether a package re-exports a name of this private file."""
        if self.passing is None or (self.is_listed and name not in self.exported):
            return False
        return self.passing.is_given(self.path, name)

    @cached_property
    def is_listed(self) -> bool:
        """Whether the file lists its public names in `__all__`."""
        return self.facts is not None and any(export.evidence == "all" for export in self.facts.exports)

    @cached_property
    def is_test(self) -> bool:
        """Whether the file is a test."""
        return is_test(self.path)

    @cached_property
    def package(self) -> PublicSurface | None:
        """The surface of its package, where a manifest says by which files it is used."""
        return self.surface if self.surface is not None and self.surface.governs(self.path) else None

    def _take(self, facts: Facts) -> None:
        """Add the definitions that are not inside a function."""
        places: dict[int, int] = {}
        depths: dict[int, int] = {}
        for position, definition in enumerate(facts.definitions):
            above = definition.container
            if above >= 0 and above not in places:
                continue
            if above >= 0 and (facts.definitions[above].kind in CALLABLES or depths[above] >= _DEEPEST):
                continue
            if (
                definition.kind in ("field", "method")
                and facts.scopes[definition.scope].kind == "type"
                and self.rules.object_types
            ):
                continue
            if facts.scopes[definition.scope].definition < 0 and facts.scopes[definition.scope].kind in (
                "function",
                "lambda",
            ):
                continue
            if self.rules.nameless_classes and _is_nameless(facts, definition):
                continue
            depths[position] = depths[above] + 1 if above >= 0 else 0
            places[position] = len(self.entities)
            self.entities.append(
                Entity(
                    kind=definition.kind,
                    name=definition.name,
                    path=definition.path,
                    parent=places.get(above, -1),
                    signature=definition.signature,
                    line=definition.line,
                    definition=definition,
                    position=position,
                )
            )
            self._outer.append(decorated_start(self.rules, self.text, definition))
        # A container may stand after what belongs to it.
        self._take_late(facts, places)
        self._take_exports(facts)

    def _take_late(self, facts: Facts, places: dict[int, int]) -> None:
        for position, definition in enumerate(facts.definitions):
            above = definition.container
            if position in places or above < position or above not in places:
                continue
            places[position] = len(self.entities)
            self.entities.append(
                Entity(
                    kind=definition.kind,
                    name=definition.name,
                    path=definition.path,
                    parent=places[above],
                    signature=definition.signature,
                    line=definition.line,
                    definition=definition,
                    position=position,
                )
            )
            self._outer.append(decorated_start(self.rules, self.text, definition))

    def _take_exports(self, facts: Facts) -> None:
        """Add names that the file re-exports or renames."""
        defined = {entity.name for entity in self.entities if entity.parent < 0}
        for name, (source, at) in reexported_names(facts, self.path, self.text, defined).items():
            line = self.text.count(b"\n", 0, at) + 1
            self.entities.append(
                Entity(kind="export", name=name, path=name, parent=-1, signature="", line=line, source=source)
            )
            self._outer.append(at)

    def start_of(self, definition: Definition) -> int:
        """The start of a definition's header."""
        return start_of(self.rules, self.text, definition)

    def _own_spans(self, place: int, start: int, end: int) -> list[Span]:
        spans: list[Span] = []
        at = start
        inner = sorted(
            (self._outer[child], definition.end)
            for child in self.children.get(place, ())
            if (definition := self.entities[child].definition) is not None
        )
        for first, last in inner:
            if start <= first < end and last <= end:
                if first > at:
                    spans.append((at, first))
                at = max(at, last)
        if at < end:
            spans.append((at, end))
        return spans

    def _split_parts(self, place: int) -> Parts:
        entity, facts = self.entities[place], self.facts
        if entity.definition is None or facts is None:
            return Parts(header=Header(rest=entity.source), body=())
        definition, text = entity.definition, self.text
        name_end = definition.name_at + len(definition.name.encode())
        has_body = name_end < definition.body < definition.end
        until = definition.body if has_body else definition.end
        after = code_of(facts, text, self._own_spans(place, name_end, until))
        head = code_of(facts, text, [(self._outer[place], definition.start)])
        if entity.kind in _HEADED and (self.children.get(place) or entity.kind == "record"):
            after = _with_parameters(after, code_of(facts, text, [(name_end, until)]))
        body: list[str] | None = None
        if has_body:
            begin = without_docstring(facts, text, definition.body, definition.end)
            body = body_of(facts, text, self._own_spans(place, begin, definition.end))
        if entity.kind == "macro" and self.rules.c_declarations and text[name_end : name_end + 1] != b"(":
            after, body = [], [*after, *(body or ())]
        tokens = HeaderTokens(
            kind=entity.kind,
            before=code_of(facts, text, [(self.start_of(definition), definition.name_at)]),
            after=after,
            body=body,
            marks=tuple(_marks(head)),
            generics=head[1:] if head[:1] == ["template"] else (),
        )
        header, body_tokens = parse_header(tokens, self.rules)
        if has_body and entity.kind in CALLABLES and yields(facts, text, definition):
            header = replace(header, modifiers=header.modifiers | {"*"})
        if entity.kind not in CALLABLES and self.children.get(place):
            body_tokens = [] if entity.kind in _PLACES else [token for token in body_tokens if token not in _MERE]
        elif entity.kind not in CALLABLES:
            body_tokens = [
                token for token in body_tokens if token not in ("\x02", "\x03", "pass", "...", "{", "}", ";")
            ]
        return Parts(header=header, body=tuple(body_tokens))


def _with_parameters(own: list[str], whole: list[str]) -> list[str]:
    """The tokens after a type's name, including constructor parameters that are entities themselves."""
    at = closing_index(whole, 0, "<", ">") if whole[:1] == ["<"] else 0
    if whole[at : at + 1] != ["("] or own[at : at + 1] != ["("]:
        return own
    return [*own[:at], *whole[at : closing_index(whole, at)], *own[closing_index(own, at) :]]


def _marks(tokens: Sequence[str]) -> list[str]:
    """The decorators and attributes, as one text each."""
    marks: list[list[str]] = []
    depth = 0
    for at, token in enumerate(tokens):
        opens = token == "@" or (token == "#" and tokens[at + 1 : at + 2] == ["["])
        if opens and not depth:
            marks.append([])
        depth += (token in "([{") - (token in ")]}")
        if marks and token not in ("export", "default"):
            marks[-1].append(token)
    return [" ".join(mark_tokens) for mark_tokens in marks]


def _is_nameless(facts: Facts, definition: Definition) -> bool:
    """Whether a definition is a member of a class that has no name, made in an expression."""
    scope = facts.scopes[definition.scope]
    return definition.container >= 0 and scope.kind == "class" and scope.definition < 0


def outermost(outline: Outline, place: int) -> str:
    """The name of the definition in a file that something is in."""
    while outline.entities[place].parent >= 0:
        place = outline.entities[place].parent
    return outline.entities[place].name
