"""Planning of renames: every place with its certainty, refused if the new name has another meaning."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from codeplane.code.entity import Bound
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE, TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.kernel.errors import InvalidArgument, NotRefactorable
from codeplane.query.search.symbols import Target
from codeplane.refactor.draft import Candidate, Capsule, Coverage, Danger, Draft, Edit, Fact
from codeplane.refactor.rename.accessors import accessor_edits
from codeplane.refactor.rename.argument_labels import label_edits
from codeplane.refactor.rename.collisions import refuse_collisions
from codeplane.refactor.rename.dangers import dangers_of, unparsed_files
from codeplane.refactor.rename.doctests import doctest_edits
from codeplane.refactor.rename.family import Family, family_of
from codeplane.refactor.rename.file_name import file_moves
from codeplane.refactor.rename.fixtures import fixture_edits, is_fixture_subject
from codeplane.refactor.rename.keyword_arguments import keyword_edits
from codeplane.refactor.rename.merged_declarations import merged_edits
from codeplane.refactor.rename.module_keys import module_key_edits
from codeplane.refactor.rename.name_mangling import mangled_edits
from codeplane.refactor.rename.new_name import check_name, is_mangled
from codeplane.refactor.rename.parameters import parameter_family
from codeplane.refactor.rename.reference_edits import downgrade_uncertain, reference_edits
from codeplane.refactor.rename.relatives import relative_edits
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.strings import string_edits
from codeplane.refactor.rename.subject import subject_of

_MOST = 50
_MAX_PLACES = 100_000


def plan_rename(
    world: World, store: FactStore, target: Target, new_name: str, *, deadline: float, most: int = _MAX_PLACES
) -> Draft:
    """Plan to rename a symbol in all places, refused if they are more than `most`; never writes."""
    resolver = Resolver(world)
    subject = subject_of(world, resolver, target)
    dangers = check_name(subject.language, subject.name, new_name, member=subject.sort == "member")
    context = RenameContext(
        world=world,
        store=store,
        resolver=resolver,
        subject=subject,
        new=new_name,
        deadline=deadline,
        most=most,
    )
    relatives = context.relatives
    if relatives is not None and relatives.fixed:
        raise NotRefactorable(
            f"{context.name} belongs to {relatives.outside}, which is not here", hint="its name is part of that"
        )
    if relatives is not None and relatives.members:
        # The compiler holds them to one name.
        context.subject = replace(subject, bounds=tuple(dict.fromkeys([*subject.bounds, *relatives.members])))
        subject = context.subject
    alone = Family(members=(subject.bound,), owners=(), outside=())
    family = family_of(context) if relatives is None else alone
    edits = _edits(context, subject.bounds)
    _refuse_mangling(context, edits)
    _refuse_hiding(context, edits)
    title = f"Rename {target.line()} to {new_name}"
    fixture_uses = tuple(fixture_edits(context)) if is_fixture_subject(context) else ()
    shared, others = parameter_family(context)
    if others:
        return _of_parameters(context, shared, others, edits, title, dangers)
    if len(family.members) == 1 and not fixture_uses:
        refuse_collisions(context, subject.bounds, edits)
        return Draft(
            title=title,
            word=context.name,
            edits=edits,
            moves=file_moves(context),
            dangers=(*dangers, *dangers_of(context, family, edits)),
            coverage=_coverage(context),
        )
    bounds = tuple(dict.fromkeys([*subject.bounds, *family.members]))
    together = _surest([*(_edits(context, bounds) if len(family.members) > 1 else edits), *fixture_uses])
    refuse_collisions(context, bounds, together)
    return Draft(
        title=title,
        word=context.name,
        candidates=_candidates(context, family, together, edits, is_fixture=bool(fixture_uses)),
        dangers=(*dangers, *dangers_of(context, family, together)),
        facts=tuple(_facts(context, family)),
        capsules=(_contract(context, family),),
        coverage=_coverage(context),
    )


def _of_parameters(
    context: RenameContext,
    family: Family,
    others: Sequence[RenameContext],
    edits: tuple[Edit, ...],
    title: str,
    dangers: list[Danger],
) -> Draft:
    """Return the choice between a parameter in all overriding methods, and in this one alone."""
    refuse_collisions(context, context.subject.bounds, edits)
    more: list[Edit] = []
    for other in others:
        found = _edits(other, other.subject.bounds)
        refuse_collisions(other, other.subject.bounds, found)
        more += found
    together = _surest([*edits, *more])
    function = context.subject.function
    assert function is not None
    other_dangers = [
        danger for danger in dangers_of(context, family, together) if danger.kind != "overriding_parameter"
    ]
    return Draft(
        title=title,
        word=context.name,
        candidates=(
            Candidate(
                id="family",
                description=f"{context.name} in every {function.name} that shares it: {_list_owners(family)}",
                confidence=0.9,
                provenance="syntactic",
                edits=together,
            ),
            Candidate(
                id="this_one",
                description=f"{context.name} of this {function.name} alone; calls by keyword may reach the others",
                confidence=0.3,
                provenance="syntactic",
                edits=edits,
            ),
        ),
        dangers=(*dangers, *other_dangers),
        facts=tuple(_facts(context, family)),
        capsules=(_contract(context, family),),
        coverage=_coverage(context),
    )


def _list_owners(family: Family) -> str:
    more = f" and {len(family.owners) - 5} more" if len(family.owners) > 5 else ""
    return ", ".join(owner.name for owner in family.owners[:5]) + more


def _edits(context: RenameContext, bounds: Sequence[Bound]) -> tuple[Edit, ...]:
    """Return all edits of some bindings."""
    named = list(keyword_edits(context))
    if any(edit.tier in SURE for edit in named):
        bounds = tuple(dict.fromkeys([*bounds, *context.subject.branches]))
    found = [*reference_edits(context, bounds), *named, *string_edits(context, bounds), *mangled_edits(context)]
    found += [*relative_edits(context), *label_edits(context), *accessor_edits(context)]
    found += doctest_edits(context, bounds)
    # Of two of one tier the first stays, and a likely use is asked about.
    found = [*module_key_edits(context, bounds, found), *found]
    found += merged_edits(context, found)
    return _surest(downgrade_uncertain(context, edit) for edit in found)


def _surest(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Keep one edit per place, the surest."""
    found: dict[tuple[str, int], Edit] = {}
    for edit in edits:
        present = found.get((edit.path, edit.start))
        if present is None or TIERS.index(edit.tier) < TIERS.index(present.tier):
            found[edit.path, edit.start] = edit
    return tuple(sorted(found.values(), key=lambda edit: (edit.path, edit.start)))


def _refuse_mangling(context: RenameContext, edits: Sequence[Edit]) -> None:
    """Refuse a name that Python would mangle, if it is used outside of its class."""
    subject = context.subject
    if not subject.language.classes.mangles_private or subject.owner is None or not is_mangled(context.new):
        return
    for edit in edits:
        facts = context.world.facts(edit.path)
        if edit.tier not in SURE or edit.role == "STRING" or facts is None or edit.new != context.new:
            continue
        if context.resolver.enclosing_class(edit.path, facts, edit.start) != subject.owner:
            place = context.place_details(edit.path, edit.start)
            raise InvalidArgument(
                f"{context.new} cannot be reached at {place['path']}:{place['line']}, outside of {subject.owner.name}",
                hint=f"one underscore keeps it reachable: _{context.new.lstrip('_')}",
            )


def _refuse_hiding(context: RenameContext, edits: Sequence[Edit]) -> None:
    """Refuse a name that only its own package could reach, if others use it."""
    by_capital = context.subject.language.contract.visible == "capital"
    if not by_capital or context.new[:1].isupper() or not context.name[:1].isupper():
        return
    beside = set(context.world.beside(context.subject.bound.file))
    for edit in edits:
        if edit.tier in SURE and edit.role in ("REFERENCE", "DEFINITION") and edit.path not in beside:
            place = context.place_details(edit.path, edit.start)
            raise InvalidArgument(
                f"{context.new} cannot be reached at {place['path']}:{place['line']}, outside of its package",
                hint=f"a capital keeps it reachable: {context.new[:1].upper()}{context.new[1:]}",
            )


def _candidates(
    context: RenameContext, family: Family, together: tuple[Edit, ...], alone: tuple[Edit, ...], *, is_fixture: bool
) -> tuple[Candidate, ...]:
    owner = context.subject.owner
    if is_fixture:
        whole = f"the fixture {context.name} and the parameters that ask for it"
        single = f"the fixture {context.name} alone; tests that ask for it no longer find it"
    else:
        whole = f"{context.name} in every class that shares it: {_list_owners(family)}"
        single = f"{context.name} of {owner.name if owner else ''} alone; it no longer overrides the others"
    return (
        Candidate(id="family", description=whole, confidence=0.9, provenance="syntactic", edits=together),
        Candidate(id="this_one", description=single, confidence=0.3, provenance="syntactic", edits=alone),
    )


def _facts(context: RenameContext, family: Family) -> Iterable[Fact]:
    for member in family.members[:_MOST]:
        facts = context.world.facts(member.file)
        if facts is None:
            continue
        places = [
            facts.definitions[index].name_at
            for index in facts.definitions_by_binding.get((member.scope, member.name), ())
        ]
        for row in facts.rows_by_binding.get((member.scope, member.name), ())[:1] if not places else ():
            places.append(facts.bind_at(row))
        for at in places:
            yield Fact(fact_type="definition", path=member.file, offset=at)


def _contract(context: RenameContext, family: Family) -> Capsule:
    return Capsule(
        type="scope_resolution",
        question=f"Which of these definitions of {context.name} keep one contract?",
        stop_rule="Those that are called through a common base, or call each other by super(), are one.",
        places=tuple((fact.path, fact.offset) for fact in list(_facts(context, family))[:_MOST]),
    )


def _coverage(context: RenameContext) -> Coverage:
    family = context.subject.language.family or context.subject.language.name
    return Coverage(
        files_scanned=len({path for path, _ in context.files(context.name)}),
        unparsed=unparsed_files(context),
        truncated="; ".join(dict.fromkeys(context.cut)),
        families=(family,),
    )
