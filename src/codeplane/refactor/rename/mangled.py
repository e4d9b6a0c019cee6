"""Names that Python keeps to a class, as they are spelled outside of it: `_Class__name`."""

from collections.abc import Iterator

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.entity import Bound, Instance
from codeplane.code.resolve.tier import Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.new_name import is_mangled

_CLASSES = frozenset({"class"})
_MOST = 400


def spelled(of: str, name: str) -> str:
    """How a class's own name is called from outside; a class of underscores alone keeps nothing to itself."""
    return f"_{of.lstrip('_')}{name}" if is_mangled(name) and of.strip("_") else name


def mangled_edits(ground: Ground) -> Iterator[Edit]:
    """An edit for every place that spells a class's own name out: the one that is renamed, or all its class has."""
    subject = ground.subject
    if not subject.language.classes.mangles_private:
        return
    if subject.sort == "member" and subject.owner is not None and is_mangled(subject.name):
        was, new = spelled(subject.owner.name, subject.name), spelled(subject.owner.name, ground.new)
        yield from _respelled(ground, subject.owner, was, new)
    elif subject.definition is not None and subject.definition.kind in _CLASSES:
        for name in dict.fromkeys(_own_names(ground)):
            yield from _respelled(ground, subject.bound, spelled(subject.name, name), spelled(ground.new, name))


def _own_names(ground: Ground) -> Iterator[str]:
    facts = ground.subject.facts
    bodies = {facts.body_of.get(index, -1) for index, _ in ground.resolver.definitions(ground.subject.bound)}
    for one in facts.definitions:
        if one.scope in bodies and is_mangled(one.name):
            yield one.name


def _respelled(ground: Ground, owner: Bound, was: str, new: str) -> Iterator[Edit]:
    if was == new:
        return
    alone = _is_alone(ground, owner)
    for path, facts in ground.files(was):
        for at in ground.places(path, was):
            tier = _tier(ground, path, facts, at, was, owner, alone=alone)
            if tier is None:
                continue
            text = facts.in_text(at)
            yield Edit(
                path=path,
                start=at,
                end=at + len(was.encode()),
                new=new,
                tier=tier,
                role="STRING" if text else "REFERENCE",
                why=f"how {owner.name}'s own name is spelled" + (" in text" if text else " outside of it"),
            )
        if ground.late("spellings outside of the class were looked for"):
            return


def _tier(ground: Ground, path: str, facts: Facts, at: int, was: str, owner: Bound, *, alone: bool) -> Tier | None:
    text = ground.world.text(path)
    if facts.in_text(at):
        quotes = text[at - 1 : at], text[at + len(was) : at + len(was) + 1]
        return "UNKNOWN" if quotes[0] == quotes[1] and quotes[0] in (b'"', b"'") else None
    if not text[:at].rstrip().endswith(b"."):
        return "ANCHORED"
    of = ground.resolver.owner_at(path, facts, at)
    known = of.of if isinstance(of, Instance) else of
    if isinstance(known, Bound):
        line, whole = ground.resolver.line_of(known)
        if owner in line:
            return "STRONG"
        return None if whole else "ANCHORED"
    return "STRONG" if alone and known is None else "ANCHORED"


def _is_alone(ground: Ground, owner: Bound) -> bool:
    """Whether no other class of the repository spells its own names the same way."""
    bare = owner.name.lstrip("_")
    for name in (bare, f"_{bare}", f"__{bare}"):
        listed, complete = ground.world.named(name, limit=_MOST)
        if not complete:
            return False
        for path, position in listed:
            facts = ground.world.facts(path)
            if facts is None or position >= len(facts.definitions):
                continue
            one = facts.definitions[position]
            if one.kind in _CLASSES and Bound(path, one.scope, one.name) != owner:
                return False
    return True
