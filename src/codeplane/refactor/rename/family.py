"""Members that override each other: the same name in a class, its bases and its subclasses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.entity import Bound, Side
from codeplane.code.languages.member_side import side_of
from codeplane.code.languages.registry import LANGUAGES
from codeplane.refactor.rename.new_name import is_mangled
from codeplane.refactor.rename.protocols import Protocols
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.subclasses import subclasses

_MAX_DEFINERS = 2_000
_MAX_JOINED = 40
_IMPLEMENTS = re.compile(rb"\bimplements\b")
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:\s*\.\s*[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The members that override each other, the subject first; `outside`: classes with bases that cannot be read.

    `unproven`: protocols of one field and classes that have it, one of each pair in the family.
    """

    members: tuple[Bound, ...]
    owners: tuple[Bound, ...]
    outside: tuple[Bound, ...]
    unproven: tuple[tuple[Bound, Bound], ...] = ()


def family_of(context: RenameContext) -> Family:
    """Return the members that override the subject or that it overrides, directly or indirectly."""
    subject = context.subject
    own = subject.language.classes.mangles_private and is_mangled(subject.name)
    if subject.owner is None or own or context.relatives is not None:
        # A private name of a class is never overridden; where types say what is, that is no question.
        return Family(members=(subject.bound,), owners=(), outside=())
    definers: dict[Bound, list[Bound]] = {subject.owner: [subject.bound]}
    for owner, bound in _definers(context, subject.name, context.side):
        # A class that is defined twice has a member in each definition.
        definers.setdefault(owner, []).append(bound)
    lines = {owner: _bases(context, owner) for owner in definers}
    protocols = Protocols(context)
    found = [subject.owner]
    waiting = [owner for owner in definers if owner != subject.owner]
    grown = True
    while grown:
        grown = False
        for owner in list(waiting):
            if any(owner in lines[base] or base in lines[owner] for base in found):
                found.append(owner)
                waiting.remove(owner)
                grown = True
        if not grown and (joined := _mixin_sibling(context, found, waiting)):
            found.append(joined)
            waiting.remove(joined)
            grown = True
        if not grown and (other := protocols.relative(found, waiting)):
            found.append(other)
            waiting.remove(other)
            grown = True
    outside = [owner for owner in found if not context.resolver.line_of(owner)[1]]
    members = dict.fromkeys(bound for owner in found for bound in definers[owner])
    return Family(
        members=tuple(members),
        owners=tuple(found),
        outside=tuple(outside),
        unproven=tuple(protocols.unproven(found, waiting)),
    )


def related_members(context: RenameContext, of: Bound, name: str) -> list[Bound]:
    """Return the members of a name in a class, its bases and its subclasses."""
    mine = _bases(context, of)
    return [
        bound
        for owner, bound in _definers(context, name)
        if owner == of or owner in mine or of in _bases(context, owner)
    ]


def _bases(context: RenameContext, of: Bound) -> frozenset[Bound]:
    """Return all bases of a class, with the interfaces that it implements."""
    line, _ = context.resolver.line_of(of)
    found = set(line)
    waiting = list(line)
    while waiting and len(found) < 200:
        for base in _interfaces(context, waiting.pop()):
            for more in context.resolver.line_of(base)[0]:
                if more not in found:
                    found.add(more)
                    waiting.append(more)
    return frozenset(found - {of})


def _interfaces(context: RenameContext, of: Bound) -> Iterator[Bound]:
    facts = context.world.facts(of.file)
    if facts is None or not LANGUAGES[facts.language].classes.declares_interfaces:
        return
    text = context.world.text(of.file)
    for _, definition in context.resolver.definitions(of):
        start = _IMPLEMENTS.search(text, *definition.bases) if definition.bases is not None else None
        if start is None or definition.bases is None:
            continue
        for name in _NAME.finditer(text, start.end(), definition.bases[1]):
            last = name[0].rpartition(b".")[2].strip()
            meaning = context.resolver.at(of.file, name.end() - len(last), last.decode("utf-8", "replace"))
            yield from (found for found in meaning.entities if isinstance(found, Bound))


def _definers(context: RenameContext, name: str, side: Side = "") -> Iterator[tuple[Bound, Bound]]:
    """Yield the classes that have a member of a name, each with it; a static member is not an instance's."""
    listed = context.store.find_symbols(name, limit=_MAX_DEFINERS)
    if len(listed) == _MAX_DEFINERS:
        context.cut.append(f"only {_MAX_DEFINERS} definitions of {name} were compared")
    family = context.subject.language.family
    for symbol in listed:
        known = context.world.snapshot.files.get(symbol.file)
        if known is None or known.digest != symbol.digest or context.is_late(f"classes with {name} were compared"):
            continue
        facts = context.world.facts(symbol.file)
        if facts is None or context.world.language(facts).family != family or symbol.position >= len(facts.definitions):
            continue
        scope = facts.definitions[symbol.position].scope
        around = facts.scopes[scope]
        if around.definition < 0 or around.kind not in ("class", "interface"):
            continue
        if side and side_of(facts, context.world.text(symbol.file), facts.definitions[symbol.position]) not in (
            "",
            side,
        ):
            continue
        owner = facts.definitions[around.definition]
        yield Bound(symbol.file, owner.scope, owner.name), Bound(symbol.file, scope, name)


def _mixin_sibling(context: RenameContext, found: list[Bound], waiting: list[Bound]) -> Bound | None:
    """Return a class that shares a subclass with one of the family, where one member hides the other."""
    if not context.subject.language.classes.mixins or len(waiting) > _MAX_JOINED:
        if len(waiting) > _MAX_JOINED and "mixins" not in " ".join(context.cut):
            context.cut.append(f"{len(waiting)} other classes with that member were not looked at as mixins")
        return None
    for other in waiting:
        for heir in subclasses(context, other):
            line = context.resolver.line_of(heir)[0]
            if any(base in line for base in found) and other in line:
                return other
    return None
