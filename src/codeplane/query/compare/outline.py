"""One version of a file as what it defines: the definitions others may know of, and what each of them says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from codeplane.code.languages.contract import Contract, Visibility
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import LANGUAGES, language_named
from codeplane.code.model import Definition, Facts
from codeplane.index.path_kinds import is_test
from codeplane.query.compare.generators import yields
from codeplane.query.compare.header import Header, Said, taken_apart
from codeplane.query.compare.marked import marked_from
from codeplane.query.compare.passed import passed_through
from codeplane.query.compare.reexports import Passing, is_private
from codeplane.query.compare.rules import CALLABLES, ORDER
from codeplane.query.compare.source_scan import implemented, start_of, type_only, unnamed
from codeplane.query.compare.tokens import Span, balanced, body_of, code_of, without_docstring
from codeplane.query.compare.visibility import seen_by_itself

_MERE = frozenset({",", ";", "{", "}", "pass", "...", "\x02", "\x03"})
# What is nested deeper is part of what it is in.
_DEEPEST = 40
_PLACES = frozenset({"namespace", "module"})
# What can have its constructor's parameters in its head, each of which is a field, too.
_HEADED = frozenset({"class", "record", "struct", "enum", "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A definition that is compared; `parent` is another's place in the outline, or -1."""

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
    """What an entity says: its head, and the tokens of its body."""

    header: Header
    body: tuple[str, ...]


class Outline:
    """The entities of one version of a file; what is said of them is read when it is asked for."""

    def __init__(self, path: str, text: bytes, facts: Facts) -> None:
        self.path = path
        self.text = text
        self.facts: Facts | None = facts
        self.language: Language = LANGUAGES[facts.language]
        self.rules: Contract = self.language.contract
        self.entities: list[Entity] = []
        # What packages around it give away, where somebody knows.
        self.passing: Passing | None = None
        self._outer: list[int] = []
        self._parts: dict[int, Parts] = {}
        self._seen: dict[int, Visibility] = {}
        self._take(facts)

    @classmethod
    def of_rows(cls, path: str, language: str, rows: Iterable[Sequence[object]]) -> "Outline":
        """What an epoch kept of a file: (kind, name, lexical path, signature, line), without its text."""
        made = cls.__new__(cls)
        made.path, made.text, made.facts, made.language = path, b"", None, language_named(language)
        made.passing = None
        made.rules, made._outer, made._parts = made.language.contract, [], {}
        made.entities, made._seen = [], {}
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
        """Whether there is a text to look into."""
        return self.facts is not None

    @property
    def errors(self) -> int:
        """The line of the first syntax error, or 0."""
        return self.facts.errors if self.facts is not None else 0

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The entities inside each."""
        found: dict[int, list[int]] = {}
        for place, one in enumerate(self.entities):
            if one.parent >= 0:
                found.setdefault(one.parent, []).append(place)
        return found

    @cached_property
    def named(self) -> dict[tuple[int, str, str], list[int]]:
        """The entities by what they are in, their kind and their name."""
        found: dict[tuple[int, str, str], list[int]] = {}
        for place, one in enumerate(self.entities):
            found.setdefault((one.parent, one.kind, one.name), []).append(place)
        return found

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names a file gives away by saying so, as they are called in it."""
        if self.facts is None:
            return frozenset()
        return frozenset(one.local or one.name for one in self.facts.exports if not one.source)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that are to be had from the file, defined there or brought in from elsewhere."""
        defined = {one.name for one in self.entities if one.parent < 0}
        if self.facts is None:
            return frozenset(defined)
        given = {one.name for one in self.facts.exports}
        if self.rules.visible != "exported":
            return frozenset(given | defined | {one.local for one in self.facts.imports if one.scope == 0})
        # What such a file imports, or keeps to itself, is to be had by nobody else.
        return frozenset(given if given else defined)

    @cached_property
    def type_only(self) -> frozenset[str]:
        """The names of which a script gives away the type alone."""
        return type_only(self.text) if self.rules.visible == "exported" else frozenset()

    @cached_property
    def implemented(self) -> frozenset[tuple[str, str]]:
        """The traits that a Rust file gives to types, each with the type's name."""
        return implemented(self.text) if self.language.classes.traits else frozenset()

    @cached_property
    def unnamed(self) -> tuple[Span, ...]:
        """The namespaces that no other file can reach."""
        return unnamed(self.text) if self.rules.unnamed_namespaces else ()

    def given_as(self, place: int) -> frozenset[str]:
        """The names that others know a definition of the file by."""
        name = self.entities[place].name
        if self.facts is None or self.rules.visible != "exported" or self.entities[place].kind == "export":
            return frozenset({name})
        found = {one.name for one in self.facts.exports if not one.source and (one.local or one.name) == name}
        return frozenset(found or {name})

    @cached_property
    def passed_on(self) -> tuple[str, ...]:
        """The modules all of whose names the file gives away, too."""
        exports = self.facts.exports if self.facts is not None else ()
        return tuple(one.source for one in exports if one.name == "*" and one.source)

    def raw(self, place: int) -> bytes:
        """An entity's own bytes, without those of the entities inside it."""
        one = self.entities[place]
        if one.definition is None:
            return one.source.encode()
        start, end = self._outer[place], one.definition.end
        found = [self.text[first:last] for first, last in self._own(place, start, end)]
        found += sorted(trait.encode() for trait, name in self.implemented if name == one.name and one.parent < 0)
        if one.name in self.type_only:
            found.append(b"type")
        if one.kind in _HEADED:
            # The order of what is in its head counts, too.
            found += [self.entities[child].name.encode() for child in self.children.get(place, ())]
        return b"\0".join(found)

    def span(self, place: int) -> bytes:
        """All of an entity's bytes."""
        one = self.entities[place]
        return self.text[one.definition.start : one.definition.end] if one.definition is not None else b""

    def parts(self, place: int) -> Parts:
        """What an entity says."""
        found = self._parts.get(place)
        if found is None:
            found = self._parts[place] = self._apart(place)
        return found

    def is_inside_callable(self, place: int) -> bool:
        """Whether an entity's text belongs to a method beside it, as that of `self.name = …` does."""
        one = self.entities[place].definition
        if one is None or one.kind != "field":
            return False
        among = self.children.get(self.entities[place].parent, ())
        return any(
            (other := self.entities[place].definition) is not None
            and other.kind in CALLABLES
            and other.start <= one.start
            and one.end <= other.end
            for place in among
        )

    def visibility(self, place: int) -> Visibility:
        """Who can know of an entity: never more than of what it is in."""
        known = self._seen.get(place)
        if known is None:
            known = self._seen[place] = self._judged(place)
        return known

    def _judged(self, place: int) -> Visibility:
        one = self.entities[place]
        found = seen_by_itself(self, one, place)
        if one.parent >= 0:
            around = self.visibility(one.parent)
            found = max(found, around, key=lambda seen: ORDER[seen])
        return found

    @cached_property
    def is_private_module(self) -> bool:
        """Whether the names of the file and its folders say that it is nobody else's."""
        return is_private(self.path)

    def is_passed_on(self, name: str) -> bool:
        """Whether a package gives away what the file, which is its own affair, defines."""
        if self.passing is None or (self.is_listed and name not in self.exported):
            return False
        return self.passing.is_given(self.path, name)

    @cached_property
    def is_listed(self) -> bool:
        """Whether the file says itself which of its names are meant for others."""
        return self.facts is not None and any(export.evidence == "all" for export in self.facts.exports)

    @cached_property
    def is_test(self) -> bool:
        """Whether nobody else builds on the file."""
        return is_test(self.path)

    def _take(self, facts: Facts) -> None:
        """The definitions that are not inside a function: those are its body."""
        places: dict[int, int] = {}
        depths: dict[int, int] = {}
        for position, one in enumerate(facts.definitions):
            above = one.container
            if above >= 0 and above not in places:
                continue
            if above >= 0 and (facts.definitions[above].kind in CALLABLES or depths[above] >= _DEEPEST):
                continue
            if one.kind == "field" and facts.scopes[one.scope].kind == "type" and self.rules.object_types:
                continue
            if facts.scopes[one.scope].definition < 0 and facts.scopes[one.scope].kind in ("function", "lambda"):
                continue
            depths[position] = depths[above] + 1 if above >= 0 else 0
            places[position] = len(self.entities)
            self.entities.append(
                Entity(
                    kind=one.kind,
                    name=one.name,
                    path=one.path,
                    parent=places.get(above, -1),
                    signature=one.signature,
                    line=one.line,
                    definition=one,
                    position=position,
                )
            )
            self._outer.append(marked_from(self.rules, self.text, one))
        # A container may stand after what belongs to it.
        self._take_late(facts, places)
        self._take_exports(facts)

    def _take_late(self, facts: Facts, places: dict[int, int]) -> None:
        for position, one in enumerate(facts.definitions):
            above = one.container
            if position in places or above < position or above not in places:
                continue
            places[position] = len(self.entities)
            self.entities.append(
                Entity(
                    kind=one.kind,
                    name=one.name,
                    path=one.path,
                    parent=places[above],
                    signature=one.signature,
                    line=one.line,
                    definition=one,
                    position=position,
                )
            )
            self._outer.append(marked_from(self.rules, self.text, one))

    def _take_exports(self, facts: Facts) -> None:
        """Names that a file passes on or gives another name."""
        defined = {one.name for one in self.entities if one.parent < 0}
        for name, (source, at) in passed_through(facts, self.path, self.text, defined).items():
            line = self.text.count(b"\n", 0, at) + 1
            self.entities.append(
                Entity(kind="export", name=name, path=name, parent=-1, signature="", line=line, source=source)
            )
            self._outer.append(at)

    def start_of(self, one: Definition) -> int:
        """Where what is said of a definition begins."""
        return start_of(self.rules, self.text, one)

    def _own(self, place: int, start: int, end: int) -> list[Span]:
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

    def _apart(self, place: int) -> Parts:
        one, facts = self.entities[place], self.facts
        if one.definition is None or facts is None:
            return Parts(header=Header(rest=one.source), body=())
        definition, text = one.definition, self.text
        name_end = definition.name_at + len(definition.name.encode())
        has_body = name_end < definition.body < definition.end
        until = definition.body if has_body else definition.end
        after = code_of(facts, text, self._own(place, name_end, until))
        head = code_of(facts, text, [(self._outer[place], definition.start)])
        if one.kind in _HEADED and (self.children.get(place) or one.kind == "record"):
            after = _with_parameters(after, code_of(facts, text, [(name_end, until)]))
        body: list[str] | None = None
        if has_body:
            begin = without_docstring(facts, text, definition.body, definition.end)
            body = body_of(facts, text, self._own(place, begin, definition.end))
        if one.kind == "macro" and self.rules.c_declarations and text[name_end : name_end + 1] != b"(":
            after, body = [], [*after, *(body or ())]
        said = Said(
            kind=one.kind,
            before=code_of(facts, text, [(self.start_of(definition), definition.name_at)]),
            after=after,
            body=body,
            marks=tuple(_marks(head)),
            generics=head[1:] if head[:1] == ["template"] else (),
        )
        header, found = taken_apart(said, self.rules)
        if has_body and one.kind in CALLABLES and yields(facts, text, definition):
            header = replace(header, modifiers=header.modifiers | {"*"})
        if one.kind not in CALLABLES and self.children.get(place):
            found = [] if one.kind in _PLACES else [token for token in found if token not in _MERE]
        elif one.kind not in CALLABLES:
            found = [token for token in found if token not in ("\x02", "\x03", "pass", "...", "{", "}", ";")]
        return Parts(header=header, body=tuple(found))


def _with_parameters(own: list[str], whole: list[str]) -> list[str]:
    """The tokens after a type's name with the parameters that are entities of their own put back."""
    at = balanced(whole, 0, "<", ">") if whole[:1] == ["<"] else 0
    if whole[at : at + 1] != ["("] or own[at : at + 1] != ["("]:
        return own
    return [*own[:at], *whole[at : balanced(whole, at)], *own[balanced(own, at) :]]


def _marks(tokens: Sequence[str]) -> list[str]:
    """Decorators and attributes, one text each."""
    found: list[list[str]] = []
    depth = 0
    for at, token in enumerate(tokens):
        opens = token == "@" or (token == "#" and tokens[at + 1 : at + 2] == ["["])
        if opens and not depth:
            found.append([])
        depth += (token in "([{") - (token in ")]}")
        if found and token not in ("export", "default"):
            found[-1].append(token)
    return [" ".join(one) for one in found]
