"""Members that may override each other in languages whose bases are not followed from file to file.

Bases are compared by their names alone, so what is found is proposed and never applied by itself.
"""

import re
from collections.abc import Iterator

from codeplane.code.facts.model import Definition, Facts
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.references import references
from codeplane.refactor.draft import Danger, Edit
from codeplane.refactor.rename.ground import Ground

_MAX_DEFINERS = 2_000
_MAX_NAMES = 500
_MAX_HEAD = 300
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_OVERRIDES = re.compile(rb"@Override\b|\boverride\b")
_IMPLEMENTS = re.compile(rb"\bimpl\b[^{]*?\b(\w+)(?:<[^{]*>)?\s+for\b")
_WHY = "a member of that name in a type that may share it by inheritance"


def relative_edits(ground: Ground) -> Iterator[Edit]:
    """An edit, never a sure one, for every use of a member that may be the subject's override or what it overrides."""
    bounds = list(dict.fromkeys(_relatives(ground)))
    for one in references(ground.world, ground.store, bounds, receivers=False) if bounds else ():
        yield Edit(
            path=one.path,
            start=one.offset,
            end=one.offset + ground.length,
            new=ground.new,
            tier="ANCHORED",
            role=one.role,
            why=_WHY,
        )


def foreign_bases(ground: Ground) -> Iterator[Danger]:
    """A member that overrides one of a type that is not here, by what its own words say."""
    one, facts = ground.subject.definition, ground.subject.facts
    if one is None or not _is_asked(ground):
        return
    text = ground.world.text(ground.subject.bound.file)
    danger = ""
    language = LANGUAGES[facts.language]
    if one.name in language.classes.library_methods:
        danger = f"{language.title}'s own packages may call {one.name}"
    elif language.classes.traits and (trait := _trait(facts, text, one)) and not _is_here(ground, trait):
        danger = f"{one.name} is a method of the trait {trait}, which is not here"
    elif (
        ground.subject.language.bare_members
        and _OVERRIDES.search(text, one.start, _head_end(text, one))
        and not any(True for _ in _relatives(ground))
    ):
        danger = f"{one.name} overrides a member of a type that is not here"
    if danger:
        yield Danger(kind="outside_base", what=danger, path=ground.subject.bound.file, offset=one.name_at)


def _is_asked(ground: Ground) -> bool:
    """Whether the subject is a member, be it one that names its owner, in a language whose bases are not followed."""
    subject, one = ground.subject, ground.subject.definition
    owned = subject.sort == "member" or (subject.sort == "top" and one is not None and one.kind == "method")
    return owned and not subject.language.names.follows_imports


def _relatives(ground: Ground) -> Iterator[Bound]:
    subject, mine = ground.subject, ground.subject.definition
    if mine is None or not _is_asked(ground):
        return
    own = _owner_name(mine)
    rules = subject.language.classes
    names = frozenset[str]() if rules.implicit_interfaces or rules.traits else _kin(ground, own)
    listed = ground.store.named(subject.name, limit=_MAX_DEFINERS)
    for one in listed:
        known = ground.world.snapshot.files.get(one.file)
        facts = ground.world.facts(one.file) if known is not None and known.digest == one.digest else None
        if facts is None or one.position >= len(facts.definitions):
            continue
        if ground.world.language(facts).group != subject.language.group:
            continue
        other = facts.definitions[one.position]
        bound = Bound(one.file, other.scope, other.name)
        if bound in subject.bounds or not _owner_name(other):
            continue
        if _may_share(ground, subject.facts, mine, one.file, facts, other) or _owner_name(other) in names - {own}:
            yield bound


def _may_share(ground: Ground, mine_in: Facts, mine: Definition, path: str, facts: Facts, other: Definition) -> bool:
    """Whether two methods may be one of an interface or a trait that their types do not name."""
    rules = LANGUAGES[facts.language].classes
    if rules.implicit_interfaces:
        return "interface" in (_owner_kind(mine_in, mine), _owner_kind(facts, other))
    if not rules.traits:
        return False
    own = _trait(mine_in, ground.world.text(ground.subject.bound.file), mine)
    return own != "" and own == _trait(facts, ground.world.text(path), other)


def _trait(facts: Facts, text: bytes, one: Definition) -> str:
    """The trait that a method of Rust belongs to, be it by an `impl … for`."""
    if _owner_kind(facts, one) == "trait":
        return facts.definitions[one.container].name
    scope = facts.scopes[one.scope]
    found = (
        _IMPLEMENTS.match(text, scope.start, min(scope.end, scope.start + _MAX_HEAD)) if scope.kind == "class" else None
    )
    return found[1].decode("utf-8", "replace") if found is not None else ""


def _is_here(ground: Ground, trait: str) -> bool:
    for one in ground.store.named(trait, limit=_MAX_NAMES):
        facts = ground.world.facts(one.file) if one.file in ground.world.snapshot.files else None
        there = facts is not None and one.position < len(facts.definitions)
        if facts is not None and there and facts.definitions[one.position].kind == "trait":
            return True
    return False


def _owner_name(one: Definition) -> str:
    return one.path.rpartition(".")[0].rpartition(".")[2]


def _owner_kind(facts: Facts, one: Definition) -> str:
    return facts.definitions[one.container].kind if one.container >= 0 else ""


def _head_end(text: bytes, one: Definition) -> int:
    """Where the words before a body end."""
    ends = [
        at for at in (text.find(mark, one.name_at, one.name_at + _MAX_HEAD) for mark in (b"{", b";", b"=")) if at >= 0
    ]
    return min(ends, default=one.name_at)


def _kin(ground: Ground, own: str) -> frozenset[str]:
    """The names of types that a type builds on, and of those that build on it or on one of them."""
    above = _closed(ground, {own}, up=True)
    return _closed(ground, above, up=False)


def _closed(ground: Ground, first: frozenset[str] | set[str], *, up: bool) -> frozenset[str]:
    found, waiting = set(first), list(first)
    while waiting and len(found) < _MAX_NAMES:
        name = waiting.pop()
        for path, facts in ground.files(name) if name else ():
            text = ground.world.text(path)
            for one in facts.definitions:
                if one.bases is None:
                    continue
                words = {word[0].decode("utf-8", "replace") for word in _WORD.finditer(text, *one.bases)}
                new = words if up and one.name == name else {one.name} if not up and name in words else set()
                waiting += sorted(new - found)
                found |= new
    return frozenset(found)
