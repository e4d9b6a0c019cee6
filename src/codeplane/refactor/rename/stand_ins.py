"""Stand-ins of a function: aliases, `partial` and `wraps`, whose calls reach it under another name."""

import re
from collections.abc import Iterator

from codeplane.code.entity import Bound, Outside
from codeplane.code.languages.expression import closing_bracket
from codeplane.code.model import REASONS, Facts
from codeplane.refactor.rename.rename_context import RenameContext

_PARAM = REASONS.index("PARAM")
_WRAPS = re.compile(rb"@[ \t]*(?:[\w.]+\.)?wraps\([ \t]*$")
_WRAPPED = re.compile(rb"[ \t]*[,)][^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?def[ \t]+([\w\x80-\xff]+)")
_COPIED = re.compile(
    rb"(?:^|[\n;])[ \t]*([\w\x80-\xff]+)(?:[ \t]*:[^=\n]*)?[ \t]*=[ \t]*"
    rb"(?:(?:[\w.]+\.)?partial(?:method)?\(\s*)?[\w.]*$"
)
_GIVEN = re.compile(rb"(?:^|[\n;])[ \t]*([\w\x80-\xff]+)(?:[ \t]*:[^=\n]*)?[ \t]*=[ \t]*(?:lambda\b[^:\n]*)?$")
_ENDS = re.compile(rb"[ \t]*(?:[,)#;\r\n]|$)")
_FIRST = re.compile(rb"\(\s*([\w\x80-\xff.]+)\s*,")
_SPREAD = re.compile(rb"\*\*[ \t]*([\w\x80-\xff]+)")
_MAKING = ("__init__", "__new__")
_NEAR = 300


def stand_ins(context: RenameContext, function: Bound) -> Iterator[Bound]:
    """Yield the bindings that pass their arguments on to a function: `g = f`, `partial(f)`, `@wraps(f)`, `f(**kw)`."""
    name = function.name
    yield from _forwarding_functions(context, function)
    for path, facts in context.files(name):
        text = context.world.text(path)
        for at in context.places(path, name):
            found = _stand_in(text, at, at + len(name.encode()))
            if found is None or facts.in_text(at):
                continue
            called, where = found
            if function not in context.resolver.at(path, at, name).entities:
                continue
            scope = next((scope for scope, place in _bindings(facts, called) if place == where), -1)
            if scope >= 0 and Bound(path, scope, called) != function:
                yield Bound(path, scope, called)
        if context.is_late("other names of the function were looked for"):
            return


def _forwarding_functions(context: RenameContext, function: Bound) -> Iterator[Bound]:
    """Yield the functions that call a function, or its class, with all arguments by name that they were given."""
    called = [function]
    facts = context.world.facts(function.file)
    holder = facts.scopes[function.scope].definition if facts is not None and function.name in _MAKING else -1
    if facts is not None and holder >= 0:
        called.append(Bound(function.file, facts.definitions[holder].scope, facts.definitions[holder].name))
    for target in called:
        for path, there in context.files(target.name):
            text = context.world.text(path)
            for at in context.places(path, target.name):
                spread = spread_argument(text, at + len(target.name.encode()))
                if spread is None or there.in_text(at):
                    continue
                index = there.scopes[there.scope_at(at)].definition
                of = there.definitions[index] if index >= 0 else None
                if of is None or not re.search(rb"\*\*[ \t]*%s\b" % re.escape(spread), text[of.start : of.body]):
                    continue
                if target in context.resolver.at(path, at, target.name).entities:
                    yield Bound(path, of.scope, of.name)


def spread_argument(text: bytes, at: int) -> bytes | None:
    """Return the mapping whose items a call that opens at a place gives as arguments by name."""
    closed = closing_bracket(text, at) if text[at : at + 1] == b"(" else None
    spread = _SPREAD.search(text, at, closed) if closed is not None else None
    return spread[1] if spread is not None else None


def lambda_names(context: RenameContext) -> Iterator[Bound]:
    """Yield the name that a lambda is assigned to, if the subject is its parameter."""
    subject = context.subject
    scope = subject.facts.scopes[subject.bound.scope]
    if subject.sort != "parameter" or scope.kind != "lambda":
        return
    before = context.world.text(subject.bound.file)[max(0, scope.start - _NEAR) : scope.start]
    named = _GIVEN.search(before)
    if named is None:
        return
    name, at = named[1].decode("utf-8", "replace"), scope.start - len(before) + named.start(1)
    yield from (
        Bound(subject.bound.file, scope, name) for scope, place in _bindings(subject.facts, name) if place == at
    )


def has_parameter(context: RenameContext, function: Bound, name: str) -> bool:
    """Whether a function has a parameter of a name."""
    facts = context.world.facts(function.file)
    for index, _ in context.resolver.definitions(function) if facts is not None else ():
        assert facts is not None
        rows = facts.rows_by_binding.get((facts.body_of.get(index, -1), name), ())
        if any(facts.bind_reason(row) == _PARAM for row in rows):
            return True
    return False


def first_argument_function(context: RenameContext, path: str, opened: int) -> tuple[Bound, bool] | None:
    """Return the function that is a call's first argument, and whether that is certain."""
    first = _FIRST.match(context.world.text(path), opened)
    if first is None:
        return None
    name = first[1].rpartition(b".")[2].decode("utf-8", "replace")
    meaning = context.resolver.at(path, first.end(1) - len(name.encode()), name)
    function = context.subject.function
    if function is None or function in meaning.entities:
        return (function, meaning.certain) if function is not None else None
    for entity in meaning.entities if function.name in ("__init__", "__new__") else ():
        if isinstance(entity, Bound) and context.resolver.member(entity, function.name)[0] == function:
            return function, False
    # The method of a receiver that nothing is known of.
    unknown = not meaning.entities and meaning.how == "member" and name == function.name
    return (function, False) if unknown and is_method(context, function) else None


def is_method(context: RenameContext, function: Bound) -> bool:
    """Whether a function is defined in the body of a class."""
    facts = context.world.facts(function.file)
    return facts is not None and facts.scopes[function.scope].kind == "class"


def is_functools_name(context: RenameContext, path: str, at: int, name: str) -> bool:
    """Whether a name at a place comes from `functools`."""
    return context.resolver.at(path, at, name).entities == (Outside("functools"),)


def _stand_in(text: bytes, at: int, end: int) -> tuple[str, int] | None:
    before = text[max(0, at - _NEAR) : at]
    if _WRAPS.search(before.rpartition(b"\n")[2]):
        wrapped = _WRAPPED.match(text, end)
        return (wrapped[1].decode("utf-8", "replace"), wrapped.start(1)) if wrapped else None
    copied = _COPIED.search(before) if _ENDS.match(text, end) else None
    return (copied[1].decode("utf-8", "replace"), at - len(before) + copied.start(1)) if copied else None


def _bindings(facts: Facts, name: str) -> Iterator[tuple[int, int]]:
    for row, bound_name in enumerate(facts.bind_names):
        if bound_name == name:
            yield facts.bind_scope(row), facts.bind_at(row)
