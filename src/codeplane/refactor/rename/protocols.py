"""Classes that implement a protocol by having its members, without naming it as a base."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codeplane.code.entity import Bound
from codeplane.code.languages.python.evidence import decorators, is_property
from codeplane.code.model import Definition, Facts
from codeplane.query.compare.parameters import Parameter, parameters
from codeplane.query.compare.tokens import closing_index, code_of
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.subclasses import subclasses

_PLACED = frozenset({"positional", "positional_only"})
# A field that is declared as a function, or assigned a name, a lambda or a partial function.
_HOLDS_FUNCTION = re.compile(
    rb"[ \t]*(?::[^=\n]*\bCallable\b"
    rb"|=[ \t]*(?:lambda\b|(?:\w+\.)?partial\(|(?!None\b|True\b|False\b|\d)[\w.]+[ \t]*(?:[#;\n]|$)))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A member of a class; `parameters` is None for what is read like a field, which may hold a function."""

    owner: Bound
    parameters: tuple[Parameter, ...] | None
    may_hold_function: bool = False


class Protocols:
    """Finds the protocols that classes implement, within one rename."""

    def __init__(self, context: RenameContext) -> None:
        self._context = context
        base = context.subject.language.classes.protocol_base
        self._base = re.compile(rb"\b" + base.encode() + rb"\b") if base else None
        self._is_protocol: dict[Bound, bool] = {}
        self._own: dict[Bound, Mapping[str, _Member]] = {}
        self._members: dict[Bound, Mapping[str, _Member]] = {}
        self._heirs: dict[Bound, tuple[Bound, ...]] = {}

    def relative(self, family: Sequence[Bound], others: Sequence[Bound]) -> Bound | None:
        """Return a class that implements a protocol of the family, or a protocol that one of the family implements."""
        for protocol, of in self._pairs(family, others):
            if not self._is_single_field(protocol) and self._implements(of, protocol):
                return protocol if protocol in others else of
        return None

    def unproven(self, family: Sequence[Bound], others: Sequence[Bound]) -> Iterator[tuple[Bound, Bound]]:
        """Yield protocols of the one renamed field, each with a class that has it: too little to say that they belong.

        One of the two is in the family.
        """
        for protocol, of in self._pairs(family, others):
            if self._is_single_field(protocol) and self._implements(of, protocol):
                yield protocol, of

    def _pairs(self, family: Sequence[Bound], others: Sequence[Bound]) -> Iterator[tuple[Bound, Bound]]:
        """Yield each protocol with each class that is no protocol, one of them of the family and one not."""
        if self._base is None:
            return
        for inside, outside in ((family, others), (others, family)):
            protocols = [owner for owner in inside if self.is_protocol(owner)]
            for of in outside if protocols else ():
                if not self.is_protocol(of):
                    yield from ((protocol, of) for protocol in protocols)

    def is_protocol(self, owner: Bound) -> bool:
        """Whether a class is a protocol."""
        found = self._is_protocol.get(owner)
        if found is None:
            text = self._context.world.text(owner.file)
            definitions = [definition for _, definition in self._context.resolver.definitions(owner)]
            found = self._is_protocol[owner] = self._base is not None and any(
                definition.bases is not None and self._base.search(text, *definition.bases)
                for definition in definitions
            )
        return found

    def _is_single_field(self, protocol: Bound) -> bool:
        members = self._all(protocol)
        return len(members) == 1 and all(member.parameters is None for member in members.values())

    def _implements(self, of: Bound, protocol: Bound) -> bool:
        """Whether a class, or one that inherits the renamed member from it, has all members of a protocol."""
        asked, name = self._all(protocol), self._context.name
        if name not in asked or not _fits(self._own_members(of).get(name), asked[name]):
            return False
        return self._has_all(of, asked) or any(
            self._all(heir).get(name) == self._own_members(of)[name] and self._has_all(heir, asked)
            for heir in self._subclasses(of)
        )

    def _has_all(self, of: Bound, asked: Mapping[str, _Member]) -> bool:
        members = self._all(of)
        return all(_fits(members.get(name), member) for name, member in asked.items())

    def _subclasses(self, of: Bound) -> tuple[Bound, ...]:
        if of not in self._heirs:
            self._heirs[of] = tuple(subclasses(self._context, of))
        return self._heirs[of]

    def _all(self, of: Bound) -> Mapping[str, _Member]:
        """Return the members that a class has or inherits."""
        found = self._members.get(of)
        if found is None:
            line, _ = self._context.resolver.line_of(of)
            found = self._members[of] = {
                name: member for base in reversed(line) for name, member in self._own_members(base).items()
            }
        return found

    def _own_members(self, of: Bound) -> Mapping[str, _Member]:
        found = self._own.get(of)
        if found is None:
            facts = self._context.world.facts(of.file)
            found = self._own[of] = self._read(facts, of) if facts is not None else {}
        return found

    def _read(self, facts: Facts, of: Bound) -> dict[str, _Member]:
        """Return the members of a class without special ones."""
        text = self._context.world.text(of.file)
        bodies = {facts.body_of.get(index, -1) for index, _ in self._context.resolver.definitions(of)}
        return {
            definition.name: _Member(
                owner=of,
                parameters=_parameters(facts, text, definition),
                may_hold_function=_HOLDS_FUNCTION.match(text, definition.name_at + len(definition.name.encode()))
                is not None,
            )
            for definition in facts.definitions
            if definition.scope in bodies and not definition.name.startswith("__")
        }


def _parameters(facts: Facts, text: bytes, definition: Definition) -> tuple[Parameter, ...] | None:
    """Return the parameters of a method without its receiver; None for a field or property."""
    if definition.kind not in ("function", "method") or is_property(text, definition):
        return None
    end = definition.name_at + len(definition.name.encode())
    tokens = code_of(facts, text, [(end, definition.end)])
    opened = tokens.index("(") if "(" in tokens else 0
    listed = parameters(tokens[opened + 1 : closing_index(tokens, opened) - 1], "marked")
    return listed if b"@staticmethod" in decorators(text, definition) else listed[1:]


def _fits(member: _Member | None, asked: _Member) -> bool:
    """Whether a member can be used as a protocol asks: names of positional parameters do not matter."""
    if member is None:
        return False
    if asked.parameters is None:
        return member.parameters is None
    return member.may_hold_function if member.parameters is None else _takes(member.parameters, asked.parameters)


def _takes(mine: Sequence[Parameter], asked: Sequence[Parameter]) -> bool:
    """Whether parameters take whatever others do."""
    kinds = {parameter.how for parameter in mine}
    placed = [parameter for parameter in mine if parameter.how in _PLACED]
    given = [parameter for parameter in asked if parameter.how in _PLACED]
    names = {parameter.name for parameter in mine if parameter.how in ("keyword_only", "positional")}
    by_name = {parameter.name for parameter in asked if parameter.how == "keyword_only"}
    if any(parameter.how == "rest" for parameter in asked) and "rest" not in kinds:
        return False
    if len(given) > len(placed) and "rest" not in kinds:
        return False
    if not by_name <= names and "keyword_rest" not in kinds:
        return False
    missing = [*placed[len(given) :], *(parameter for parameter in mine if parameter.how == "keyword_only")]
    return all(not parameter.is_required or parameter.name in by_name for parameter in missing)
