"""A rename, planned: every place with how sure it is, refused where the new name means something else."""

from collections.abc import Iterable, Sequence

from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE, TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.symbols import Target
from codeplane.refactor.draft import Candidate, Capsule, Coverage, Danger, Draft, Edit, Fact
from codeplane.refactor.rename.collisions import refuse_collisions
from codeplane.refactor.rename.dangers import dangers_of, unparsed
from codeplane.refactor.rename.family import Family, family_of
from codeplane.refactor.rename.fixtures import asking_edits, is_asked_by_name
from codeplane.refactor.rename.format_strings import format_edits
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.keywords import keyword_edits
from codeplane.refactor.rename.mangled import mangled_edits
from codeplane.refactor.rename.new_name import checked_name, is_mangled
from codeplane.refactor.rename.parameters import parameter_family
from codeplane.refactor.rename.places import careful, place_edits
from codeplane.refactor.rename.relatives import relative_edits
from codeplane.refactor.rename.strings import string_edits
from codeplane.refactor.rename.subject import subject_of
from codeplane.refactor.rename.written import Syntax

_MOST = 50
_MAX_PLACES = 100_000


def planned_rename(
    world: World, store: FactStore, target: Target, new_name: str, *, deadline: float, most: int = _MAX_PLACES
) -> Draft:
    """Plan a symbol's new name in all places that say it, refused where these are more than `most`; never writes."""
    resolver = Resolver(world)
    subject = subject_of(world, resolver, target)
    dangers = checked_name(subject.language, subject.name, new_name, member=subject.sort == "member")
    ground = Ground(
        world=world,
        store=store,
        resolver=resolver,
        subject=subject,
        new=new_name,
        deadline=deadline,
        syntax=Syntax(world),
        most=most,
    )
    family = family_of(ground)
    edits = _edits(ground, subject.bounds)
    _refuse_mangling(ground, edits)
    title = f"Rename {target.line()} to {new_name}"
    asked = tuple(asking_edits(ground)) if is_asked_by_name(ground) else ()
    shared, others = parameter_family(ground)
    if others:
        return _of_parameters(ground, shared, others, edits, title, dangers)
    if len(family.members) == 1 and not asked:
        refuse_collisions(ground, subject.bounds, edits)
        return Draft(
            title=title,
            word=ground.name,
            edits=edits,
            dangers=(*dangers, *dangers_of(ground, family, edits)),
            coverage=_coverage(ground),
        )
    bounds = tuple(dict.fromkeys([*subject.bounds, *family.members]))
    together = _surest([*(_edits(ground, bounds) if len(family.members) > 1 else edits), *asked])
    refuse_collisions(ground, bounds, together)
    return Draft(
        title=title,
        word=ground.name,
        candidates=_candidates(ground, family, together, edits, asked=bool(asked)),
        dangers=(*dangers, *dangers_of(ground, family, together)),
        facts=tuple(_facts(ground, family)),
        capsules=(_contract(ground, family),),
        coverage=_coverage(ground),
    )


def _of_parameters(
    ground: Ground, family: Family, others: Sequence[Ground], edits: tuple[Edit, ...], title: str, dangers: list[Danger]
) -> Draft:
    """The choice between a parameter in all methods that override each other, and this one's alone."""
    refuse_collisions(ground, ground.subject.bounds, edits)
    more: list[Edit] = []
    for other in others:
        found = _edits(other, other.subject.bounds)
        refuse_collisions(other, other.subject.bounds, found)
        more += found
    together = _surest([*edits, *more])
    function = ground.subject.function
    assert function is not None
    told = [one for one in dangers_of(ground, family, together) if one.kind != "overriding_parameter"]
    return Draft(
        title=title,
        word=ground.name,
        candidates=(
            Candidate(
                id="family",
                description=f"{ground.name} in every {function.name} that shares it: {_listed(family)}",
                confidence=0.9,
                provenance="syntactic",
                edits=together,
            ),
            Candidate(
                id="this_one",
                description=f"{ground.name} of this {function.name} alone; calls by keyword may reach the others",
                confidence=0.3,
                provenance="syntactic",
                edits=edits,
            ),
        ),
        dangers=(*dangers, *told),
        facts=tuple(_facts(ground, family)),
        capsules=(_contract(ground, family),),
        coverage=_coverage(ground),
    )


def _listed(family: Family) -> str:
    more = f" and {len(family.owners) - 5} more" if len(family.owners) > 5 else ""
    return ", ".join(owner.name for owner in family.owners[:5]) + more


def _edits(ground: Ground, bounds: Sequence[Bound]) -> tuple[Edit, ...]:
    """All edits for some bindings."""
    named = list(keyword_edits(ground))
    if any(edit.tier in SURE for edit in named):
        bounds = tuple(dict.fromkeys([*bounds, *ground.subject.branches]))
    found = [*place_edits(ground, bounds), *named, *string_edits(ground, bounds), *mangled_edits(ground)]
    found += [*format_edits(ground, bounds), *relative_edits(ground)]
    return _surest(careful(ground, edit) for edit in found)


def _surest(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """One edit a place: of several the surest."""
    found: dict[tuple[str, int], Edit] = {}
    for edit in edits:
        held = found.get((edit.path, edit.start))
        if held is None or TIERS.index(edit.tier) < TIERS.index(held.tier):
            found[edit.path, edit.start] = edit
    return tuple(sorted(found.values(), key=lambda edit: (edit.path, edit.start)))


def _refuse_mangling(ground: Ground, edits: Sequence[Edit]) -> None:
    """Refuse a name that Python makes a class's own, when it is used outside of that class."""
    subject = ground.subject
    if not subject.language.classes.mangles_private or subject.owner is None or not is_mangled(ground.new):
        return
    for edit in edits:
        facts = ground.world.facts(edit.path)
        if edit.tier not in SURE or edit.role == "STRING" or facts is None or edit.new != ground.new:
            continue
        if ground.resolver.enclosing_class(edit.path, facts, edit.start) != subject.owner:
            place = ground.shown_at(edit.path, edit.start)
            raise InvalidArgument(
                f"{ground.new} cannot be reached at {place['path']}:{place['line']}, outside of {subject.owner.name}",
                hint=f"one underscore keeps it reachable: _{ground.new.lstrip('_')}",
            )


def _candidates(
    ground: Ground, family: Family, together: tuple[Edit, ...], alone: tuple[Edit, ...], *, asked: bool
) -> tuple[Candidate, ...]:
    owner = ground.subject.owner
    if asked:
        whole = f"the fixture {ground.name} and the parameters that ask for it"
        single = f"the fixture {ground.name} alone; tests that ask for it no longer find it"
    else:
        whole = f"{ground.name} in every class that shares it: {_listed(family)}"
        single = f"{ground.name} of {owner.name if owner else ''} alone; it no longer overrides the others"
    return (
        Candidate(id="family", description=whole, confidence=0.9, provenance="syntactic", edits=together),
        Candidate(id="this_one", description=single, confidence=0.3, provenance="syntactic", edits=alone),
    )


def _facts(ground: Ground, family: Family) -> Iterable[Fact]:
    for member in family.members[:_MOST]:
        facts = ground.world.facts(member.file)
        if facts is None:
            continue
        places = [facts.definitions[index].name_at for index in facts.declared.get((member.scope, member.name), ())]
        for row in facts.bound.get((member.scope, member.name), ())[:1] if not places else ():
            places.append(facts.bind_at(row))
        for at in places:
            yield Fact(fact_type="definition", path=member.file, offset=at)


def _contract(ground: Ground, family: Family) -> Capsule:
    return Capsule(
        type="scope_resolution",
        question=f"Which of these definitions of {ground.name} keep one contract?",
        stop_rule="Those that are called through a common base, or call each other by super(), are one.",
        places=tuple((fact.path, fact.offset) for fact in list(_facts(ground, family))[:_MOST]),
    )


def _coverage(ground: Ground) -> Coverage:
    family = ground.subject.language.family or ground.subject.language.name
    return Coverage(
        files_scanned=len({path for path, _ in ground.files(ground.name)}),
        unparsed=unparsed(ground),
        truncated="; ".join(dict.fromkeys(ground.cut)),
        families=(family,),
    )
