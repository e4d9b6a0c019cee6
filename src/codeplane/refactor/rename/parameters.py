"""The parameter of one name in methods that override each other: callers by keyword mean all of them."""

from dataclasses import replace

from codeplane.code.facts.model import REASONS
from codeplane.code.resolve.entity import Bound
from codeplane.kernel.errors import NotRefactorable
from codeplane.query.search.symbols import Target
from codeplane.refactor.rename.family import Family, family_of
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.new_name import is_dunder, is_mangled
from codeplane.refactor.rename.subject import first_parameter, subject_of

_PARAM = REASONS.index("PARAM")
# So many methods are planned together; a contract that more share is not changed by renaming.
MOST = 40


def parameter_family(ground: Ground) -> tuple[Family, tuple[Ground, ...]]:
    """The methods that share a parameter with the subject's by overriding, and a ground for each of the others."""
    alone = Family(members=(ground.subject.bound,), owners=(), outside=())
    subject, function = ground.subject, ground.subject.function
    if subject.sort != "parameter" or not subject.language.names.named_arguments or function is None:
        return alone, ()
    of = subject.facts.scopes[function.scope].definition
    if subject.facts.scopes[function.scope].kind != "class" or of < 0:
        return alone, ()
    if is_dunder(function.name) or is_mangled(function.name) or _is_self(ground):
        return alone, ()
    owner = subject.facts.definitions[of]
    method = replace(subject, bounds=(function,), owner=Bound(function.file, owner.scope, owner.name), function=None)
    family = family_of(replace(ground, subject=method))
    members = [subject.bound]
    owners, grounds = list(family.owners[:1]), list[Ground]()
    for at in family.members[1:]:
        found = _parameter(ground, at)
        if found is None:
            continue
        try:
            other = subject_of(ground.world, ground.resolver, Target(bound=found, symbol=None, definition=None))
        except NotRefactorable:
            continue
        members.append(found)
        owners.append(_owner(ground, at))
        grounds.append(replace(ground, subject=other))
    if len(grounds) > MOST:
        return alone, ()
    return Family(members=tuple(members), owners=tuple(owners), outside=()), tuple(grounds)


def _owner(ground: Ground, method: Bound) -> Bound:
    """The class a method is in."""
    facts = ground.world.facts(method.file)
    assert facts is not None
    one = facts.definitions[facts.scopes[method.scope].definition]
    return Bound(method.file, one.scope, one.name)


def _is_self(ground: Ground) -> bool:
    """Whether the parameter is what a method is called on, which every method names as it likes."""
    return first_parameter(ground.subject.facts, ground.subject.bound.scope) == ground.subject.at


def _parameter(ground: Ground, function: Bound) -> Bound | None:
    facts = ground.world.facts(function.file)
    if facts is None:
        return None
    for index in facts.declared.get((function.scope, function.name), ()):
        body = facts.body_of.get(index, -1)
        rows = facts.bound.get((body, ground.name), ()) if body >= 0 else ()
        if any(facts.bind_reason(row) == _PARAM for row in rows):
            return Bound(function.file, body, ground.name)
    return None
