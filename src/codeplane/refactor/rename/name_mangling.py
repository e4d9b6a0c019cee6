"""Name mangling in Python: private names of a class, written `_Class__name` outside of it."""

from collections.abc import Iterator

from codeplane.code.entity import Bound, Instance
from codeplane.code.model import Facts
from codeplane.code.resolve.tier import Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.new_name import is_mangled
from codeplane.refactor.rename.rename_context import RenameContext

_CLASSES = frozenset({"class"})
_MOST = 400


def mangled_name(of: str, name: str) -> str:
    """Return how a private name is written outside of its class; a class named only `_` does not mangle."""
    return f"_{of.lstrip('_')}{name}" if is_mangled(name) and of.strip("_") else name


def mangled_edits(context: RenameContext) -> Iterator[Edit]:
    """Yield an edit for every mangled name: that of the renamed member, or all of the renamed class."""
    subject = context.subject
    if not subject.language.classes.mangles_private:
        return
    if subject.sort == "member" and subject.owner is not None and is_mangled(subject.name):
        was, new = mangled_name(subject.owner.name, subject.name), mangled_name(subject.owner.name, context.new)
        yield from _mangled_uses(context, subject.owner, was, new)
    elif subject.definition is not None and subject.definition.kind in _CLASSES:
        for name in dict.fromkeys(_own_names(context)):
            yield from _mangled_uses(
                context, subject.bound, mangled_name(subject.name, name), mangled_name(context.new, name)
            )


def _own_names(context: RenameContext) -> Iterator[str]:
    facts = context.subject.facts
    bodies = {facts.body_of.get(index, -1) for index, _ in context.resolver.definitions(context.subject.bound)}
    for definition in facts.definitions:
        if definition.scope in bodies and is_mangled(definition.name):
            yield definition.name


def _mangled_uses(context: RenameContext, owner: Bound, was: str, new: str) -> Iterator[Edit]:
    if was == new:
        return
    alone = _is_alone(context, owner)
    for path, facts in context.files(was):
        for at in context.places(path, was):
            tier = _tier(context, path, facts, at, was, owner, alone=alone)
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
        if context.is_late("spellings outside of the class were looked for"):
            return


def _tier(
    context: RenameContext, path: str, facts: Facts, at: int, was: str, owner: Bound, *, alone: bool
) -> Tier | None:
    text = context.world.text(path)
    if facts.in_text(at):
        quotes = text[at - 1 : at], text[at + len(was) : at + len(was) + 1]
        return "UNKNOWN" if quotes[0] == quotes[1] and quotes[0] in (b'"', b"'") else None
    if not text[:at].rstrip().endswith(b"."):
        return "ANCHORED"
    of = context.resolver.owner_at(path, facts, at)
    known = of.of if isinstance(of, Instance) else of
    if isinstance(known, Bound):
        line, whole = context.resolver.line_of(known)
        if owner in line:
            return "STRONG"
        return None if whole else "ANCHORED"
    return "STRONG" if alone and known is None else "ANCHORED"


def _is_alone(context: RenameContext, owner: Bound) -> bool:
    """Whether no other class of the repository mangles names the same way."""
    bare = owner.name.lstrip("_")
    for name in (bare, f"_{bare}", f"__{bare}"):
        listed, complete = context.world.find_definitions(name, limit=_MOST)
        if not complete:
            return False
        for path, position in listed:
            facts = context.world.facts(path)
            if facts is None or position >= len(facts.definitions):
                continue
            definition = facts.definitions[position]
            if definition.kind in _CLASSES and Bound(path, definition.scope, definition.name) != owner:
                return False
    return True
