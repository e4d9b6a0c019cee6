"""Calls that name an argument by a parameter, in languages whose calls are not followed to their functions."""

import re
from collections.abc import Iterator

from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.tier import Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.rename_context import RenameContext

_MAX_CALL = 10_000
_FAR = 200
_BEFORE = re.compile(rb"[(,]\s*(?:\.\.\.)?\Z")
_CALLED = re.compile(rb"([\w\x80-\xff]+)\s*\Z")
# What stands for the class in a call of its constructor; `copy` is that of data and case classes.
_CONSTRUCTORS = frozenset({"__construct", "apply", "constructor", "init", "initialize", "this"})
_OF_CLASS = frozenset({"base", "copy", "init", "new", "self", "static", "super", "this", "parent", "__construct"})
_PROPERTY = "a property of that name, which a parameter of the constructor declares"
_WHY = "an argument of that name; whether this function is called is not certain"


def label_edits(context: RenameContext) -> Iterator[Edit]:
    """Yield a proposal for every argument that may be named by the parameter that is renamed."""
    subject, signs = context.subject, context.subject.language.names.sigils
    mark = subject.language.names.argument_mark.encode()
    if not mark or subject.sort != "parameter":
        return
    loose = subject.language.names.marked_parameters
    at = subject.at + context.length
    if loose and not context.world.text(subject.bound.file).startswith(mark, at):
        return
    name, new = context.name.lstrip(signs), context.new.lstrip(signs)
    behind = re.compile(rb"\s*%s(?![=:>])" % re.escape(mark))
    called = _called_names(context)
    promoted = any(
        definition.kind == "field" and definition.name_at == subject.at + 1 for definition in subject.facts.definitions
    )
    operators = tuple(sign.encode() for sign in subject.language.members) if promoted else ()
    for path, facts in context.files(name):
        text = context.world.text(path)
        declared = {int(at) for at in facts.binds[:, 1]} if len(facts.binds) else set()
        for at in occurrences(text, name):
            end = at + len(name.encode())
            if at in declared or facts.in_text(at):
                continue
            why = _PROPERTY if operators and text[:at].endswith(operators) else ""
            if behind.match(text, end) and (loose or _BEFORE.search(text, max(0, at - _FAR), at)):
                why = why or (_WHY if loose or _callee(text, at, facts) in called else "")
            if why:
                tier = _tier(context, path, at, name) if why == _WHY else "ANCHORED"
                if tier is not None:
                    yield Edit(path=path, start=at, end=end, new=new, tier=tier, role="REFERENCE", why=why)


def _tier(context: RenameContext, path: str, at: int, name: str) -> Tier | None:
    """Return how certain it is that an argument is named by the parameter; None if it certainly is not."""
    meant = context.resolver.at(path, at, name)
    if not meant.certain or not meant.entities:
        return "ANCHORED"
    return "STRONG" if set(meant.entities) & set(context.subject.bounds) else None


def _called_names(context: RenameContext) -> frozenset[str]:
    """Return the names by which the function of a parameter may be called; the empty one stands for any value."""
    subject = context.subject
    function = subject.function
    if function is None:
        return frozenset({""})
    index = subject.facts.scopes[function.scope].definition
    owner = subject.facts.definitions[index].name if index >= 0 else ""
    names = {function.name, "", *context.aliases(function.name)}
    if function.name in _CONSTRUCTORS or function.name == owner:
        names |= {owner, *context.aliases(owner), *_OF_CLASS, owner.removesuffix("Attribute")}
        names |= _heirs(context, owner)
    return frozenset(names)


def _heirs(context: RenameContext, owner: str) -> set[str]:
    """Return the names of the types that name a type among their bases, whose constructors they may inherit."""
    found = set()
    for path, facts in context.files(owner) if owner else ():
        text = context.world.text(path)
        for definition in facts.definitions:
            if definition.bases is not None and owner.encode() in text[slice(*definition.bases)]:
                found.add(definition.name)
    return found


def _callee(text: bytes, at: int, facts: Facts) -> str:
    """Return the name before the parenthesis around a place; empty for another expression."""
    depth = 0
    for offset in range(at - 1, max(-1, at - _MAX_CALL), -1):
        sign = text[offset : offset + 1]
        if sign not in (b"(", b")", b"[", b"]", b"{", b"}") or facts.in_text(offset):
            continue
        if sign in (b")", b"]", b"}"):
            depth += 1
        elif depth:
            depth -= 1
        else:
            found = _CALLED.search(_without_arguments(text[max(0, offset - _FAR) : offset]))
            return found[1].decode("utf-8", "replace") if found else ""
    return ""


def _without_arguments(head: bytes) -> bytes:
    """Return the text before a call without the type arguments at its end."""
    head = head.rstrip(b" \t\r\n!?")
    depth = 0
    for offset in range(len(head) - 1, -1, -1):
        sign = head[offset : offset + 1]
        depth += (sign in (b">", b"]")) - (sign in (b"<", b"["))
        if depth <= 0:
            return head[:offset] if sign in (b"<", b"[") else head
    return head
