"""A parameter that overriding methods share: calls by keyword mean all of them."""

from dataclasses import replace

from codeplane.code.entity import Bound
from codeplane.code.model import REASONS
from codeplane.kernel.errors import NotRefactorable
from codeplane.query.search.symbols import Target
from codeplane.refactor.rename.family import Family, family_of
from codeplane.refactor.rename.new_name import is_dunder, is_mangled
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.subject import first_parameter, subject_of

_PARAM = REASONS.index("PARAM")
# The most methods that are planned together.
MOST = 40


def parameter_family(context: RenameContext) -> tuple[Family, tuple[RenameContext, ...]]:
    """Return the overriding methods that share the parameter, and a context for each of the others."""
    alone = Family(members=(context.subject.bound,), owners=(), outside=())
    subject, function = context.subject, context.subject.function
    if subject.sort != "parameter" or not subject.language.names.named_arguments or function is None:
        return alone, ()
    of = subject.facts.scopes[function.scope].definition
    if subject.facts.scopes[function.scope].kind != "class" or of < 0:
        return alone, ()
    if is_dunder(function.name) or is_mangled(function.name) or _is_self(context):
        return alone, ()
    owner = subject.facts.definitions[of]
    method = replace(subject, bounds=(function,), owner=Bound(function.file, owner.scope, owner.name), function=None)
    family = family_of(replace(context, subject=method))
    members = [subject.bound]
    owners, contexts = list(family.owners[:1]), list[RenameContext]()
    for at in family.members[1:]:
        found = _parameter(context, at)
        if found is None:
            continue
        try:
            other = subject_of(context.world, context.resolver, Target(bound=found, symbol=None, definition=None))
        except NotRefactorable:
            continue
        members.append(found)
        owners.append(_owner(context, at))
        contexts.append(replace(context, subject=other))
    if len(contexts) > MOST:
        return alone, ()
    return Family(members=tuple(members), owners=tuple(owners), outside=()), tuple(contexts)


def _owner(context: RenameContext, method: Bound) -> Bound:
    """Return the class of a method."""
    facts = context.world.facts(method.file)
    assert facts is not None
    definition = facts.definitions[facts.scopes[method.scope].definition]
    return Bound(method.file, definition.scope, definition.name)


def _is_self(context: RenameContext) -> bool:
    """Whether the parameter is `self`, which each method may name differently."""
    return first_parameter(context.subject.facts, context.subject.bound.scope) == context.subject.at


def _parameter(context: RenameContext, function: Bound) -> Bound | None:
    facts = context.world.facts(function.file)
    if facts is None:
        return None
    for index in facts.definitions_by_binding.get((function.scope, function.name), ()):
        body = facts.body_of.get(index, -1)
        rows = facts.rows_by_binding.get((body, context.name), ()) if body >= 0 else ()
        if any(facts.bind_reason(row) == _PARAM for row in rows):
            return Bound(function.file, body, context.name)
    return None
