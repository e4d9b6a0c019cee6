"""Names of arguments in calls: a parameter's, and those of fields that a constructor takes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.code.resolve.evidence import binding_before, decorators
from codeplane.code.resolve.expression import receiver
from codeplane.code.resolve.names import Meaning
from codeplane.code.resolve.tier import SURE, Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.indirect import handed, is_python_s, lambda_s_name, stand_ins, takes

_FIELDS = re.compile(rb"^\s*@(?:[\w.]+\.)?(?:dataclass|define|frozen|mutable|attrs|s|dataclass_json)\b", re.MULTILINE)
_TUPLES = re.compile(rb"\bNamedTuple\b")
_WORD = re.compile(rb"[\w\x80-\xff]+$")
_MAKING = ("__init__", "__new__")
_PARTIAL = frozenset({"partial", "partialmethod"})
_FAR = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that names an argument: what is called by its last name, and where its arguments begin."""

    path: str
    at: int
    callee: str
    callee_at: int
    opened: int
    twice: bool = False
    """Whether what is called is what a call of that name gave."""
    heading: bool = False
    """Whether it is the heading of a class, which gives its bases what it names."""


def keyword_edits(ground: Ground) -> Iterator[Edit]:
    """An edit for every argument that is, or may be, the subject by its name."""
    subject = ground.subject
    if not subject.language.names.named_arguments or subject.sort not in ("parameter", "member"):
        return
    if subject.sort == "parameter" and not _by_keyword(ground):
        return
    if subject.sort == "member" and not _is_field(ground):
        return
    calls: list[tuple[Call, Facts]] = []
    for path, facts in ground.files(ground.name):
        calls += ((call, facts) for call in calls_naming(ground, path, facts, ground.name))
        if ground.late("calls were read for arguments by name"):
            return
    functions = _functions(ground) if subject.function is not None and calls else []
    others = frozenset(one for of in functions for one in stand_ins(ground, of)) | {*lambda_s_name(ground)}
    for call, facts in calls:
        if subject.sort == "parameter" and _is_pattern(ground.world.text(call.path), call.at):
            continue
        tier, why = _judged(ground, facts, call, others)
        if tier is not None:
            end = call.at + ground.length
            yield Edit(path=call.path, start=call.at, end=end, new=ground.new, tier=tier, role="KEYWORD", why=why)
        if ground.late("calls were followed for arguments by name"):
            return


def _is_pattern(text: bytes, at: int) -> bool:
    """Whether a place is in a `case`: names there are attributes, not arguments."""
    return text[text.rfind(b"\n", 0, at) + 1 : at].lstrip().startswith(b"case ")


def _by_keyword(ground: Ground) -> bool:
    """Whether calls can name a parameter: not where it gathers others, or stands before a slash."""
    text, at = ground.world.text(ground.subject.bound.file), ground.subject.at
    if text[:at].rstrip()[-1:] == b"*":
        return False
    index, depth = at, 0
    while index < len(text) and depth >= 0:
        char = text[index : index + 1]
        depth += (char in (b"(", b"[", b"{")) - (char in (b")", b"]", b"}"))
        if char == b"/" and depth == 0 and text[:index].rstrip()[-1:] == b",":
            return False
        index += 1
    return True


def calls_naming(ground: Ground, path: str, facts: Facts, name: str) -> Iterator[Call]:
    """The calls in a file that give an argument of a name."""
    labels = facts.labels
    if not labels:
        return
    text = ground.world.text(path)
    for at in ground.places(path, name):
        opened = _opening(text, facts, at) if at in labels else None
        if opened is None:
            continue
        twice = text[opened - 1 : opened] == b")"
        inner = _opening(text, facts, opened - 1) if twice else opened
        word = _WORD.search(text, max(0, inner - 200), inner) if inner is not None else None
        if word is None or text[max(0, word.start() - 4) : word.start()] == b"def ":
            continue
        heading = text[max(0, word.start() - 6) : word.start()] == b"class "
        callee = word[0].decode("utf-8", "replace")
        yield Call(path=path, at=at, callee=callee, callee_at=word.start(), opened=opened, twice=twice, heading=heading)


def reaches(ground: Ground, facts: Facts, call: Call, function: Bound) -> Tier | None:
    """How sure it is that a call is one of a function, directly or by making an instance."""
    resolver = ground.resolver
    if call.heading or call.twice:
        return _of_heading(ground, facts, call, function) if call.heading else _of_made(ground, call, function)
    if call.callee == "super" or not (call.callee == function.name or _may_be(ground, call, function)):
        return None
    meaning = _called(ground, facts, call)
    ours = [one for one in meaning.entities if not isinstance(one, Outside)]
    if function in ours:
        home = ground.world.facts(function.file)
        if home is None or (
            (len(ours) > 1 or resolver.is_rebound(function, home)) and not _is_right_after(ground, facts, call)
        ):
            return "ANCHORED"
        if meaning.how == "name" and call.path == function.file:
            return "PROVEN"
        return "STRONG" if meaning.certain else "ANCHORED"
    tiers = [_of_value(ground, call, one, function) for one in ours]
    reached = [tier for tier in tiers if tier is not None]
    if reached:
        # Of several things under one name a call means one.
        one_way = len(set(tiers)) == 1 and meaning.how != "either"
        return reached[0] if one_way else "ANCHORED"
    if not meaning.entities and call.callee == function.name and meaning.how == "member":
        if _is_method(ground, function):
            return "ANCHORED"
        steps = receiver(ground.world.text(call.path), call.callee_at, facts.in_text)
        # Something that is called like the module may be it.
        module = function.file.rpartition("/")[2].partition(".")[0]
        return "UNKNOWN" if steps and steps[-1].name == module else None
    return None


def _is_right_after(ground: Ground, facts: Facts, call: Call) -> bool:
    """Whether a definition is the last thing that gave the name of what is called, and nothing ran since."""
    scope, text = facts.scope_at(call.callee_at), ground.world.text(call.path)
    rows = facts.rows(scope, call.callee)
    places = [facts.bind_at(row) for row in rows]
    at = binding_before(text, places, call.callee_at)
    defined = ground.resolver.defined_at(call.path, facts, at) if at >= 0 else None
    return defined is not None and defined.kind == "function" and b")" not in text[defined.end : call.callee_at]


def _called(ground: Ground, facts: Facts, call: Call) -> Meaning:
    """What is called, or may be: a module's, where the name before it is a module's and something else's."""
    resolver, text = ground.resolver, ground.world.text(call.path)
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    if meaning.entities or meaning.how != "member":
        return meaning
    steps = receiver(text, call.callee_at, facts.in_text)
    if not steps or len(steps) > 1 or steps[0].called:
        return meaning
    holders = resolver.at(call.path, steps[0].at, steps[0].name).entities
    modules = [one.path for one in holders if isinstance(one, Module)]
    found = tuple(dict.fromkeys(one for path in modules for one in resolver.export(path, call.callee)))
    return Meaning(entities=found, certain=False, how="either" if found else "member")


def _of_value(ground: Ground, call: Call, entity: Entity, function: Bound) -> Tier | None:
    """The same where what is called is a class that has the function, or an instance of it."""
    resolver = ground.resolver
    value = resolver.value(entity) if isinstance(entity, Bound) else entity
    known = value is not None
    if isinstance(entity, Bound) and any(one.kind == "class" for _, one in resolver.definitions(entity)):
        # What is decorated may be something else, and is made of this all the same.
        value = entity
    if isinstance(value, Bound) and function.name in _MAKING:
        found, whole = resolver.member(value, function.name)
        if found == function:
            straight = function.name == "__new__" or not resolver.makes_others(value)
            return "STRONG" if whole and known and straight else "ANCHORED"
        if _passes_on(ground, value, found, function):
            return "ANCHORED"
    if isinstance(value, Instance):
        wanted = "__call__" if call.callee != "cls" else function.name if function.name in _MAKING else ""
        found, whole = resolver.member(value.of, wanted) if wanted == function.name else (None, False)
        if found == function:
            return "STRONG" if whole else "ANCHORED"
    return None


def _of_heading(ground: Ground, facts: Facts, call: Call, function: Bound) -> Tier | None:
    """`class B(A, flag=1)`: what the heading names, the nearest `__init_subclass__` above takes."""
    if function.name != "__init_subclass__":
        return None
    defined = ground.resolver.defined_at(call.path, facts, call.callee_at)
    if defined is None:
        return None
    found, whole = ground.resolver.member(Bound(call.path, defined.scope, defined.name), function.name, skip_own=True)
    if found != function:
        return None
    bases = ground.world.text(call.path)[slice(*defined.bases)] if defined.bases is not None else b""
    return "STRONG" if whole and b"metaclass" not in bases else "ANCHORED"


def _of_made(ground: Ground, call: Call, function: Bound) -> Tier | None:
    """`A()(bb=2)`: what a class makes is called."""
    if function.name != "__call__":
        return None
    resolver = ground.resolver
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    for entity in meaning.entities:
        if not isinstance(entity, Bound):
            continue
        if not any(one.kind == "class" for _, one in resolver.definitions(entity)):
            return "ANCHORED"
        found, whole = resolver.member(entity, function.name)
        if found == function:
            straight = meaning.certain and not resolver.is_replaced(entity) and not resolver.makes_others(entity)
            return "STRONG" if whole and straight else "ANCHORED"
        return None
    return "ANCHORED" if not meaning.entities else None


def _passes_on(ground: Ground, of: Bound, own: Bound | None, function: Bound) -> bool:
    """Whether a class makes its instances in its own way, and a base of it by the function, with what is left."""
    if own is None or takes(ground, own, ground.name):
        return False
    facts = ground.world.facts(function.file)
    holder = facts.scopes[function.scope].definition if facts is not None else -1
    if facts is None or holder < 0:
        return False
    above = Bound(function.file, facts.definitions[holder].scope, facts.definitions[holder].name)
    return above in ground.resolver.line_of(of)[0]


def _may_be(ground: Ground, call: Call, function: Bound) -> bool:
    """Whether a call under another name may reach a function: an alias, a class, an instance."""
    if function.name in (*_MAKING, "__call__"):
        return True
    return call.callee in ground.aliases(function.name)


def _judged(ground: Ground, facts: Facts, call: Call, others: frozenset[Bound]) -> tuple[Tier | None, str]:
    subject = ground.subject
    if subject.sort == "member":
        return _of_field(ground, call) if not (call.heading or call.twice) else (None, "")
    for function in _functions(ground) if subject.function is not None else ():
        tier = reaches(ground, facts, call, function)
        if tier is not None:
            known = tier in SURE
            return tier, f"an argument of {function.name}" if known else f"may be an argument of {function.name}"
    return _indirectly(ground, call, others)


def _indirectly(ground: Ground, call: Call, others: frozenset[Bound]) -> tuple[Tier | None, str]:
    """The same for a call of something else that hands its arguments on."""
    function = ground.subject.function
    if call.heading or call.twice:
        return None, ""
    meaning = ground.resolver.at(call.path, call.callee_at, call.callee)
    meant = [one for one in meaning.entities if isinstance(one, Bound)]
    if any(takes(ground, one, ground.name) for one in meant):
        return None, ""
    if any(one in others for one in meant):
        return "ANCHORED", f"{call.callee} stands for {function.name if function is not None else 'the lambda'}"
    given = handed(ground, call.path, call.opened)
    if given is None or function is None:
        return None, ""
    sure = given[1] and call.callee in _PARTIAL and is_python_s(ground, call.path, call.callee_at, call.callee)
    return ("STRONG" if sure else "ANCHORED"), f"handed on to {function.name} by {call.callee}"


def _functions(ground: Ground) -> list[Bound]:
    """The function a parameter is of, and its twin in the stub."""
    subject = ground.subject
    assert subject.function is not None
    found = [subject.function]
    for bound in subject.bounds[1:]:
        facts = ground.world.facts(bound.file)
        of = facts.scopes[bound.scope].definition if facts is not None else -1
        if facts is not None and of >= 0:
            found.append(Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name))
    return list(dict.fromkeys(found))


def _of_field(ground: Ground, call: Call) -> tuple[Tier | None, str]:
    subject, resolver = ground.subject, ground.resolver
    assert subject.owner is not None
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    for entity in meaning.entities:
        value = resolver.value(entity) if isinstance(entity, Bound) else None
        of = value.of if isinstance(value, Instance) and call.callee == "cls" else value
        known = of is not None
        if isinstance(entity, Bound) and any(one.kind == "class" for _, one in resolver.definitions(entity)):
            of = entity
        if not isinstance(of, Bound):
            continue
        line, whole = resolver.line_of(of)
        if subject.owner not in line or resolver.member(of, subject.name)[0] not in subject.bounds:
            continue
        if _is_pattern(ground.world.text(call.path), call.at):
            return ("STRONG" if whole and known else "ANCHORED"), f"an attribute that a pattern of {call.callee} names"
        if any(resolver.member(of, one)[0] is not None for one in _MAKING):
            return None, ""
        if takes_fields(ground, subject.owner):
            return ("STRONG" if known else "ANCHORED"), f"a field that {call.callee} takes"
        return ("UNKNOWN" if whole else "ANCHORED"), f"an argument of {call.callee}, which has this member"
    return None, ""


def takes_fields(ground: Ground, of: Bound) -> bool:
    """Whether a class makes its constructor of its fields."""
    facts, text = ground.world.facts(of.file), ground.world.text(of.file)
    for _, one in ground.resolver.definitions(of):
        if _FIELDS.search(decorators(text, one)):
            return True
        if facts is not None and one.bases is not None and _TUPLES.search(text, *one.bases):
            return True
    return False


def _is_field(ground: Ground) -> bool:
    subject = ground.subject
    return (
        subject.owner is not None
        and subject.definition is not None
        and subject.definition.kind in ("variable", "constant", "field")
    )


def _is_method(ground: Ground, function: Bound) -> bool:
    facts = ground.world.facts(function.file)
    return facts is not None and facts.scopes[function.scope].kind == "class"


def _opening(text: bytes, facts: Facts, at: int) -> int | None:
    """The bracket that opens the arguments a name is among; text inside strings and comments is passed over."""
    spans = facts.texts
    span = int(spans[:, 0].searchsorted(at)) - 1
    depth, index = 0, at - 1
    least = max(0, at - _FAR)
    while index >= least:
        while span >= 0 and int(spans[span, 0]) > index:
            span -= 1
        if span >= 0 and index < int(spans[span, 1]):
            index = int(spans[span, 0]) - 1
            continue
        char = text[index]
        if char in b")]}":
            depth += 1
        elif char in b"([{":
            if depth == 0:
                return index if char == ord("(") else None
            depth -= 1
        index -= 1
    return None
