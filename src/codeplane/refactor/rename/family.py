"""Members that override each other: the same name in a class, its bases and its subclasses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.instance import Side, side_of
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.new_name import is_mangled

_MAX_DEFINERS = 2_000
_MAX_JOINED = 40
_MAX_HEIRS = 2_000
_IMPLEMENTS = re.compile(rb"\bimplements\b")
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:\s*\.\s*[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The members that belong together, the one asked about first; `outside` names bases that cannot be read."""

    members: tuple[Bound, ...]
    owners: tuple[Bound, ...]
    outside: tuple[Bound, ...]


def family_of(ground: Ground) -> Family:
    """The members that override the subject, or that it overrides, directly or through others of them."""
    subject = ground.subject
    own = subject.language.classes.mangles_private and is_mangled(subject.name)
    if subject.owner is None or own:
        # What a class keeps to itself nobody overrides.
        return Family(members=(subject.bound,), owners=(), outside=())
    definers: dict[Bound, list[Bound]] = {subject.owner: [subject.bound]}
    for owner, bound in _definers(ground, subject.name, ground.side):
        # A class that is written twice has one in each.
        definers.setdefault(owner, []).append(bound)
    lines = {owner: _line(ground, owner) for owner in definers}
    found = [subject.owner]
    waiting = [owner for owner in definers if owner != subject.owner]
    grown = True
    while grown:
        grown = False
        for owner in list(waiting):
            if any(owner in lines[one] or one in lines[owner] for one in found):
                found.append(owner)
                waiting.remove(owner)
                grown = True
        if not grown and (joined := _joined(ground, found, waiting)):
            found.append(joined)
            waiting.remove(joined)
            grown = True
    outside = [owner for owner in found if not ground.resolver.line_of(owner)[1]]
    members = dict.fromkeys(bound for owner in found for bound in definers[owner])
    return Family(members=tuple(members), owners=tuple(found), outside=tuple(outside))


def heirs_with(ground: Ground, of: Bound, name: str) -> list[Bound]:
    """The members of a name that classes related to one have: its own, its bases', its subclasses'."""
    mine = _line(ground, of)
    return [
        bound for owner, bound in _definers(ground, name) if owner == of or owner in mine or of in _line(ground, owner)
    ]


def _line(ground: Ground, of: Bound) -> frozenset[Bound]:
    """All a class builds on, with what it says to implement, in languages that say so."""
    line, _ = ground.resolver.line_of(of)
    found = set(line)
    waiting = list(line)
    while waiting and len(found) < 200:
        for one in _implemented(ground, waiting.pop()):
            for more in ground.resolver.line_of(one)[0]:
                if more not in found:
                    found.add(more)
                    waiting.append(more)
    return frozenset(found - {of})


def _implemented(ground: Ground, of: Bound) -> Iterator[Bound]:
    facts = ground.world.facts(of.file)
    if facts is None or not LANGUAGES[facts.language].classes.declares_interfaces:
        return
    text = ground.world.text(of.file)
    for _, one in ground.resolver.definitions(of):
        start = _IMPLEMENTS.search(text, *one.bases) if one.bases is not None else None
        if start is None or one.bases is None:
            continue
        for name in _NAME.finditer(text, start.end(), one.bases[1]):
            last = name[0].rpartition(b".")[2].strip()
            meaning = ground.resolver.at(of.file, name.end() - len(last), last.decode("utf-8", "replace"))
            yield from (found for found in meaning.entities if isinstance(found, Bound))


def _definers(ground: Ground, name: str, side: Side = "") -> Iterator[tuple[Bound, Bound]]:
    """The classes that have a member of a name, each with it; one of the other side is something else."""
    listed = ground.store.named(name, limit=_MAX_DEFINERS)
    if len(listed) == _MAX_DEFINERS:
        ground.cut.append(f"only {_MAX_DEFINERS} definitions of {name} were compared")
    family = ground.subject.language.family
    for one in listed:
        known = ground.world.snapshot.files.get(one.file)
        if known is None or known.digest != one.digest or ground.late(f"classes with {name} were compared"):
            continue
        facts = ground.world.facts(one.file)
        if facts is None or ground.world.language(facts).family != family or one.position >= len(facts.definitions):
            continue
        scope = facts.definitions[one.position].scope
        around = facts.scopes[scope]
        if around.definition < 0 or around.kind not in ("class", "interface"):
            continue
        if side and side_of(facts, ground.world.text(one.file), facts.definitions[one.position]) not in ("", side):
            continue
        owner = facts.definitions[around.definition]
        yield Bound(one.file, owner.scope, owner.name), Bound(one.file, scope, name)


def _joined(ground: Ground, found: list[Bound], waiting: list[Bound]) -> Bound | None:
    """A class that shares a subclass with one of the family: in it, one's member hides the other's."""
    if not ground.subject.language.classes.mixins or len(waiting) > _MAX_JOINED:
        if len(waiting) > _MAX_JOINED and "mixins" not in " ".join(ground.cut):
            ground.cut.append(f"{len(waiting)} other classes with that member were not looked at as mixins")
        return None
    for other in waiting:
        for heir in _heirs(ground, other):
            line = ground.resolver.line_of(heir)[0]
            if any(one in line for one in found) and other in line:
                return other
    return None


def _heirs(ground: Ground, of: Bound) -> Iterator[Bound]:
    """The classes that name a class among their bases."""
    seen = 0
    name = of.name.encode()
    for path, facts in ground.files(of.name):
        text = ground.world.text(path)
        for one in facts.definitions:
            if one.bases is None or one.kind != "class" or text.find(name, *one.bases) < 0:
                continue
            seen += 1
            if seen > _MAX_HEIRS or ground.late("subclasses were looked for"):
                return
            heir = Bound(path, one.scope, one.name)
            if of in ground.resolver.line_of(heir)[0]:
                yield heir
