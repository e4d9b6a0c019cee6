"""Keyword arguments: names of parameters in calls, and of fields that a constructor takes."""

import re
from collections.abc import Iterator

from codeplane.code.entity import Bound, Entity, Instance, Meaning, Module, Outside
from codeplane.code.languages.expression import receiver
from codeplane.code.languages.python.evidence import binding_before, decorators
from codeplane.code.model import Facts
from codeplane.code.resolve.tier import SURE, Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.calls import Call, call_at, calls_naming
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.stand_ins import (
    first_argument_function,
    has_parameter,
    is_functools_name,
    is_method,
    lambda_names,
    stand_ins,
)

_FIELDS = re.compile(rb"^\s*@(?:[\w.]+\.)?(?:dataclass|define|frozen|mutable|attrs|s|dataclass_json)\b", re.MULTILINE)
_TUPLES = re.compile(rb"\bNamedTuple\b")
_MAKING = ("__init__", "__new__")
_PARTIAL = frozenset({"partial", "partialmethod"})
_COPYING = frozenset({("dataclasses", "replace"), ("copy", "replace"), ("attrs", "evolve"), ("attr", "evolve")})
_FIRST = re.compile(rb"\s*([A-Za-z_]\w*)\s*,")


def keyword_edits(context: RenameContext) -> Iterator[Edit]:
    """Yield an edit for every keyword argument that is or may be the subject."""
    subject = context.subject
    if not subject.language.names.named_arguments or subject.sort not in ("parameter", "member"):
        return
    if subject.sort == "parameter" and not _by_keyword(context):
        return
    if subject.sort == "member" and not _is_field(context):
        return
    calls: list[tuple[Call, Facts]] = []
    for path, facts in context.files(context.name):
        calls += ((call, facts) for call in calls_naming(context, path, facts, context.name))
        if context.is_late("calls were read for arguments by name"):
            return
    functions = _functions(context) if subject.function is not None and calls else []
    others = frozenset(bound for of in functions for bound in stand_ins(context, of)) | {*lambda_names(context)}
    for call, facts in calls:
        if subject.sort == "parameter" and _is_pattern(context.world.text(call.path), call.at):
            continue
        tier, why = _judge(context, facts, call, others)
        if tier is not None:
            end = call.at + context.length
            yield Edit(path=call.path, start=call.at, end=end, new=context.new, tier=tier, role="KEYWORD", why=why)
        if context.is_late("calls were followed for arguments by name"):
            return


def is_called_with_mapping(context: RenameContext, path: str) -> bool:
    """Whether a file calls the function of the renamed parameter, or its class, with the items of a mapping."""
    function, text = context.subject.function, context.world.text(path)
    names = [] if function is None else [function.name]
    facts = context.subject.facts
    holder = facts.scopes[function.scope].definition if function is not None and function.name in _MAKING else -1
    names += [facts.definitions[holder].name] if holder >= 0 else []
    return any(re.search(rb"\b%s\s*\([^()]*\*\*" % re.escape(name.encode()), text) is not None for name in names)


def _is_pattern(text: bytes, at: int) -> bool:
    """Whether a place is in a `case`: names there are attributes, not arguments."""
    return text[text.rfind(b"\n", 0, at) + 1 : at].lstrip().startswith(b"case ")


def _by_keyword(context: RenameContext) -> bool:
    """Whether calls can name a parameter: not if it is starred, or before a slash."""
    text, at = context.world.text(context.subject.bound.file), context.subject.at
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


def reaches(context: RenameContext, facts: Facts, call: Call, function: Bound) -> Tier | None:
    """Return how certain it is that a call reaches a function, directly or by making an instance."""
    resolver = context.resolver
    if call.heading or call.twice:
        return _of_heading(context, facts, call, function) if call.heading else _of_made(context, call, function)
    if call.callee == "super" or not (call.callee == function.name or _may_be(context, call, function)):
        return None
    meaning = _called_meaning(context, facts, call)
    ours = [entity for entity in meaning.entities if not isinstance(entity, Outside)]
    if function in ours:
        home = context.world.facts(function.file)
        if home is None or (
            (len(ours) > 1 or resolver.is_rebound(function, home)) and not _is_right_after(context, facts, call)
        ):
            return "ANCHORED"
        if meaning.how == "name" and call.path == function.file:
            return "PROVEN"
        return "STRONG" if meaning.certain else "ANCHORED"
    tiers = [_of_value(context, call, entity, function) for entity in ours]
    reached = [tier for tier in tiers if tier is not None]
    if reached:
        # A call means only one of several things of one name.
        one_way = len(set(tiers)) == 1 and meaning.how != "either"
        return reached[0] if one_way else "ANCHORED"
    if not meaning.entities and call.callee == function.name and meaning.how == "member":
        if is_method(context, function):
            return "ANCHORED"
        steps = receiver(context.world.text(call.path), call.callee_at, facts.in_text)
        # A receiver with the module's name may be the module.
        module = function.file.rpartition("/")[2].partition(".")[0]
        return "UNKNOWN" if steps and steps[-1].name == module else None
    return None


def _is_right_after(context: RenameContext, facts: Facts, call: Call) -> bool:
    """Whether the last binding of the called name is a definition, with no call in between."""
    scope, text = facts.scope_at(call.callee_at), context.world.text(call.path)
    rows = facts.rows(scope, call.callee)
    places = [facts.bind_at(row) for row in rows]
    at = binding_before(text, places, call.callee_at)
    defined = context.resolver.definition_at(call.path, facts, at) if at >= 0 else None
    return defined is not None and defined.kind == "function" and b")" not in text[defined.end : call.callee_at]


def _called_meaning(context: RenameContext, facts: Facts, call: Call) -> Meaning:
    """Return what is called, or may be if the receiver is a module among other things."""
    resolver, text = context.resolver, context.world.text(call.path)
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    if meaning.entities or meaning.how != "member":
        return meaning
    steps = receiver(text, call.callee_at, facts.in_text)
    if not steps or len(steps) > 1 or steps[0].called:
        return meaning
    holders = resolver.at(call.path, steps[0].at, steps[0].name).entities
    modules = [entity.path for entity in holders if isinstance(entity, Module)]
    found = tuple(dict.fromkeys(entity for path in modules for entity in resolver.export(path, call.callee)))
    return Meaning(entities=found, certain=False, how="either" if found else "member")


def _of_value(context: RenameContext, call: Call, entity: Entity, function: Bound) -> Tier | None:
    """Return how certain a call reaches a function of the class, or of the instance, that is called."""
    resolver = context.resolver
    value = resolver.value(entity) if isinstance(entity, Bound) else entity
    known = value is not None
    if isinstance(entity, Bound) and any(definition.kind == "class" for _, definition in resolver.definitions(entity)):
        # A decorated class may be something else, but makes instances of this one all the same.
        value = entity
    if isinstance(value, Bound) and function.name in _MAKING:
        found, whole = resolver.member(value, function.name)
        if found == function:
            straight = function.name == "__new__" or not resolver.makes_others(value)
            return "STRONG" if whole and known and straight else "ANCHORED"
        if _passes_on(context, value, found, function):
            return "ANCHORED"
    if isinstance(value, Instance):
        wanted = "__call__" if call.callee != "cls" else function.name if function.name in _MAKING else ""
        found, whole = resolver.member(value.of, wanted) if wanted == function.name else (None, False)
        if found == function:
            return "STRONG" if whole else "ANCHORED"
    return None


def _of_heading(context: RenameContext, facts: Facts, call: Call, function: Bound) -> Tier | None:
    """`class B(A, flag=1)`: the arguments go to the nearest inherited `__init_subclass__`."""
    if function.name != "__init_subclass__":
        return None
    defined = context.resolver.definition_at(call.path, facts, call.callee_at)
    if defined is None:
        return None
    found, whole = context.resolver.member(Bound(call.path, defined.scope, defined.name), function.name, skip_own=True)
    if found != function:
        return None
    bases = context.world.text(call.path)[slice(*defined.bases)] if defined.bases is not None else b""
    return "STRONG" if whole and b"metaclass" not in bases else "ANCHORED"


def _of_made(context: RenameContext, call: Call, function: Bound) -> Tier | None:
    """`A()(bb=2)`: a new instance is called."""
    if function.name != "__call__":
        return None
    resolver = context.resolver
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    for entity in meaning.entities:
        if not isinstance(entity, Bound):
            continue
        if not any(definition.kind == "class" for _, definition in resolver.definitions(entity)):
            return "ANCHORED"
        found, whole = resolver.member(entity, function.name)
        if found == function:
            straight = meaning.certain and not resolver.is_replaced(entity) and not resolver.makes_others(entity)
            return "STRONG" if whole and straight else "ANCHORED"
        return None
    return "ANCHORED" if not meaning.entities else None


def _passes_on(context: RenameContext, of: Bound, own: Bound | None, function: Bound) -> bool:
    """Whether a class has its own constructor that may pass the argument on to the function in a base."""
    if own is None or has_parameter(context, own, context.name):
        return False
    facts = context.world.facts(function.file)
    holder = facts.scopes[function.scope].definition if facts is not None else -1
    if facts is None or holder < 0:
        return False
    above = Bound(function.file, facts.definitions[holder].scope, facts.definitions[holder].name)
    return above in context.resolver.line_of(of)[0]


def _may_be(context: RenameContext, call: Call, function: Bound) -> bool:
    """Whether a call under another name may reach a function, by an alias, a class or an instance."""
    if function.name in (*_MAKING, "__call__"):
        return True
    return call.callee in context.aliases(function.name)


def _judge(context: RenameContext, facts: Facts, call: Call, others: frozenset[Bound]) -> tuple[Tier | None, str]:
    subject = context.subject
    if subject.sort == "member":
        return _of_field(context, call) if not (call.heading or call.twice) else (None, "")
    for function in _functions(context) if subject.function is not None else ():
        tier = reaches(context, facts, call, function)
        if tier is not None:
            known = tier in SURE
            return tier, f"an argument of {function.name}" if known else f"may be an argument of {function.name}"
    return _indirectly(context, call, others)


def _indirectly(context: RenameContext, call: Call, others: frozenset[Bound]) -> tuple[Tier | None, str]:
    """Judge a call of something else that passes its arguments on."""
    function = context.subject.function
    if call.heading or call.twice:
        return None, ""
    meaning = context.resolver.at(call.path, call.callee_at, call.callee)
    meant = [entity for entity in meaning.entities if isinstance(entity, Bound)]
    if any(has_parameter(context, bound, context.name) for bound in meant):
        return None, ""
    if any(bound in others for bound in meant):
        return "ANCHORED", f"{call.callee} stands for {function.name if function is not None else 'the lambda'}"
    if call.callee == "dict" and function is not None and is_called_with_mapping(context, call.path):
        return "UNKNOWN", f"may be given to {function.name} with **"
    given = first_argument_function(context, call.path, call.opened)
    if given is None or function is None:
        return None, ""
    sure = given[1] and call.callee in _PARTIAL and is_functools_name(context, call.path, call.callee_at, call.callee)
    return ("STRONG" if sure else "ANCHORED"), f"handed on to {function.name} by {call.callee}"


def _functions(context: RenameContext) -> list[Bound]:
    """Return the function of a parameter, and its counterpart in the stub."""
    subject = context.subject
    assert subject.function is not None
    found = [subject.function]
    for bound in subject.bounds[1:]:
        facts = context.world.facts(bound.file)
        of = facts.scopes[bound.scope].definition if facts is not None else -1
        if facts is not None and of >= 0:
            found.append(Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name))
    return list(dict.fromkeys(found))


def is_other_field(context: RenameContext, path: str, facts: Facts, at: int) -> bool:
    """Whether a keyword argument certainly names a field or parameter of another class than the subject's."""
    resolver, owner = context.resolver, context.subject.owner
    if owner is None or not _is_field(context):
        return False
    call = call_at(context, path, facts, at)
    if call is None or call.heading or call.twice:
        return False
    made = _made_class(context, call)
    if made is None:
        return False
    # A class of an outside package has none of this repository as its base.
    if resolver.has_unread_base(made) or owner in resolver.line_of(made)[0] or made in resolver.line_of(owner)[0]:
        return False
    return resolver.member(made, context.name)[0] is not None


def _made_class(context: RenameContext, call: Call) -> Bound | None:
    """Return the class that a call makes an instance of, or copies one of with `replace`; None if that is uncertain."""
    resolver = context.resolver
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    if len(meaning.entities) != 1:
        return None
    entity = meaning.entities[0]
    if isinstance(entity, Outside):
        return _copied_class(context, call, entity)
    if not isinstance(entity, Bound):
        return None
    if meaning.certain and any(definition.kind == "class" for _, definition in resolver.definitions(entity)):
        return entity
    value = resolver.value(entity)
    return value.of if isinstance(value, Instance) and call.callee == "cls" else None


def _copied_class(context: RenameContext, call: Call, function: Outside) -> Bound | None:
    """Return the class of the instance that `dataclasses.replace` is given."""
    if (function.source.partition(".")[0], call.callee) not in _COPYING:
        return None
    text, resolver = context.world.text(call.path), context.resolver
    given = _FIRST.match(text, call.opened + 1)
    if given is None:
        return None
    entities = resolver.at(call.path, given.start(1), given[1].decode("utf-8", "replace")).entities
    values = [resolver.value(entity) for entity in entities if isinstance(entity, Bound)]
    return values[0].of if len(values) == 1 == len(entities) and isinstance(values[0], Instance) else None


def _of_field(context: RenameContext, call: Call) -> tuple[Tier | None, str]:
    subject, resolver = context.subject, context.resolver
    assert subject.owner is not None
    meaning = resolver.at(call.path, call.callee_at, call.callee)
    if meaning.entities and isinstance(meaning.entities[0], Outside):
        copied = _made_class(context, call)
        if copied is not None and resolver.member(copied, subject.name)[0] in subject.bounds:
            return "STRONG", f"a field that {call.callee} sets"
    for entity in meaning.entities:
        value = resolver.value(entity) if isinstance(entity, Bound) else None
        of = value.of if isinstance(value, Instance) and call.callee == "cls" else value
        known = of is not None
        if isinstance(entity, Bound) and any(
            definition.kind == "class" for _, definition in resolver.definitions(entity)
        ):
            of = entity
        if not isinstance(of, Bound):
            continue
        line, whole = resolver.line_of(of)
        if subject.owner not in line or resolver.member(of, subject.name)[0] not in subject.bounds:
            continue
        if _is_pattern(context.world.text(call.path), call.at):
            return ("STRONG" if whole and known else "ANCHORED"), f"an attribute that a pattern of {call.callee} names"
        if any(resolver.member(of, method)[0] is not None for method in _MAKING):
            return None, ""
        if takes_fields(context, subject.owner):
            return ("STRONG" if known else "ANCHORED"), f"a field that {call.callee} takes"
        return ("UNKNOWN" if whole else "ANCHORED"), f"an argument of {call.callee}, which has this member"
    return None, ""


def takes_fields(context: RenameContext, of: Bound) -> bool:
    """Whether the constructor of a class is made from its fields."""
    facts, text = context.world.facts(of.file), context.world.text(of.file)
    for _, definition in context.resolver.definitions(of):
        if _FIELDS.search(decorators(text, definition)):
            return True
        if facts is not None and definition.bases is not None and _TUPLES.search(text, *definition.bases):
            return True
    return False


def _is_field(context: RenameContext) -> bool:
    subject = context.subject
    return (
        subject.owner is not None
        and subject.definition is not None
        and subject.definition.kind in ("variable", "constant", "field")
    )
