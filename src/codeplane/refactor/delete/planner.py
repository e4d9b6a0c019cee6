"""Planning of deletions, refused while something still refers to the target."""

import os
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from codeplane.code.entity import Bound
from codeplane.code.languages.language import Language
from codeplane.code.model import Facts
from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy
from codeplane.kernel.errors import NotFound, NotRefactorable, StillUsed
from codeplane.kernel.json import JsonValue
from codeplane.kernel.plural import ARE, plural
from codeplane.query.search.symbols import Target, side_of_target
from codeplane.refactor.delete.hidden_uses import asking_protocols, hidden_use_dangers, uses_in_strings
from codeplane.refactor.delete.importers import default_uses, find_importers
from codeplane.refactor.delete.leftovers import Leftovers
from codeplane.refactor.delete.orphan_imports import orphan_imports
from codeplane.refactor.delete.sites import Site, sites
from codeplane.refactor.draft import Coverage, Danger, Draft, Edit
from codeplane.refactor.rename.accessors import accessor_names
from codeplane.refactor.rename.relatives import sharing_members
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.subject import is_operator, subject_of

_MAX_USES = 1_000
_SHOWN = 50
_NAMED = 5
_MAX_FILES = 10_000


def plan_delete(world: World, store: FactStore, target: Target | str, *, force: bool, deadline: float) -> Draft:
    """Plan the deletion of a symbol, a file or a folder; StillUsed lists what refers to it, unless forced."""
    if isinstance(target, str):
        return _files(world, store, target.strip("/"), force=force, deadline=deadline)
    return _symbol(world, store, target, force=force, deadline=deadline)


def _symbol(world: World, store: FactStore, target: Target, *, force: bool, deadline: float) -> Draft:
    bound = target.bound
    facts = world.facts(bound.file)
    if facts is None or is_copy(bound.file):
        raise NotRefactorable(f"{path_text(bound.file)} is not a source of this repository that can be parsed")
    language, resolver = world.language(facts), Resolver(world)
    if facts.errors and not (language.preprocessed and _is_parsed(resolver, target)):
        raise NotRefactorable(f"{path_text(bound.file)}:{facts.errors} has a syntax error", hint="fix it first")
    if language.names.special_names and bound.name.startswith("__") and bound.name.endswith("__") and not force:
        raise StillUsed(
            f"{language.title} itself looks for {bound.name}",
            hint="send force: true if nothing depends on it",
            details={"total": 0},
        )
    if not force:
        _refuse_called(world, store, language, target)
        _refuse_promised(world, store, resolver, target, deadline)
    going = sites(world, bound, target.definition)
    by_file: dict[str, list[Reference]] = {bound.file: []}
    late = ""
    for reference in references(world, store, [bound], side=side_of_target(world, target)):
        if reference.role == "DEFINITION" and _is_another(resolver, facts, target, reference):
            continue
        if not (reference.path == bound.file and any(site.start <= reference.offset < site.end for site in going)):
            by_file.setdefault(reference.path, []).append(reference)
        if time.monotonic() > deadline:
            late = f"time ran out in {reference.path}"
            break
    context = _context(world, store, resolver, target, deadline) if language.names.follows_imports else None
    for reference in uses_in_strings(context) if context is not None else ():
        if not (reference.path == bound.file and any(site.start <= reference.offset < site.end for site in going)):
            by_file.setdefault(reference.path, []).append(reference)
    used: list[Reference] = []
    if bound.scope == 0 and any(export.name == "default" and export.local == bound.name for export in facts.exports):
        used += default_uses(world, store, bound, deadline)
    edits: list[Edit] = [_deletion(bound, site) for site in going]
    edits += orphan_imports(world, resolver, bound.file, going)
    dangers: list[Danger] = []
    for path, found in by_file.items():
        if world.facts(path) is None:
            # A document: what its doctests use has no statement that could go along.
            used += found
            continue
        left = Leftovers(world, resolver, bound, path)
        left.classify(found)
        used += left.used
        edits += left.edits
    if late and not force:
        raise StillUsed(
            f"not all references to {bound.name} could be looked at: {late}", hint="ask again, or send force: true"
        )
    blocking = [reference for reference in used if reference.likely]
    if blocking and not force:
        raise _still_used_error(world, bound.name, used)
    dangers += _dangers(world, store, bound, going, used)
    dangers += hidden_use_dangers(context) if context is not None and not force else ()
    return Draft(
        title=f"delete {bound.name}",
        word=bound.name,
        edits=tuple(sorted(_without_overlaps(edits), key=lambda edit: (edit.path, edit.start, edit.end))),
        dangers=tuple(dangers),
        coverage=Coverage(
            files_scanned=len(by_file),
            unparsed=tuple(path for path in by_file if (known := world.facts(path)) is None or known.errors),
            truncated=late,
            families=(language.family_name,),
        ),
    )


def _is_parsed(resolver: Resolver, target: Target) -> bool:
    """Whether a definition is parsed, and neither in something that is not nor beside it."""
    definition = target.definition
    node = resolver.syntax.node(target.bound.file, definition.start, definition.end) if definition is not None else None
    if (
        definition is None
        or node is None
        or node.has_error
        or (node.start_byte, node.end_byte) != (definition.start, definition.end)
    ):
        return False
    if any(beside is not None and beside.is_error for beside in (node.prev_sibling, node.next_sibling)):
        return False
    while node is not None and not node.is_error:
        node = node.parent
    return node is None


def _refuse_called(world: World, store: FactStore, language: Language, target: Target) -> None:
    """Refuse to delete what the language itself calls, or what others call by a name made from it."""
    bound, definition, hint = target.bound, target.definition, "send force: true if nothing depends on it"
    called = language.names.called_by_language if bound.scope == 0 else language.names.special_members
    if bound.name in called or (definition is not None and is_operator(language, world.text(bound.file), definition)):
        raise StillUsed(f"{language.title} itself calls {bound.name}", hint=hint)
    if definition is not None and definition.kind == "field" and language.names.property_accessors:
        for name in accessor_names(bound.name):
            if any(path in world.snapshot.files for path, _ in store.files_with(name)):
                raise StillUsed(f"{name} may be its accessor, and is used", hint=hint)


def _refuse_promised(world: World, store: FactStore, resolver: Resolver, target: Target, deadline: float) -> None:
    """Refuse to delete a member that its type has to have, or that others implement."""
    bound = target.bound
    relatives = resolver.relatives(bound)
    members: Sequence[Bound]
    if relatives is not None:
        members = relatives.members
    elif (context := _context(world, store, resolver, target, deadline)) is None:
        members = ()
    elif context.subject.language.names.follows_imports:
        members = list(asking_protocols(context))
    else:
        members = sharing_members(context)
    promised = [
        Reference(path=member.file, offset=definition.name_at, tier=tier, role="DEFINITION", receiver="")
        for member in members
        for _, definition in resolver.definitions(member)
        for tier in ("STRONG" if relatives is not None else "ANCHORED",)
    ]
    if promised:
        found = references(world, store, [bound], receivers=False, resolver=resolver)
        used = [reference for reference in islice(found, _MAX_USES) if reference.role != "DEFINITION"]
        raise _still_used_error(world, bound.name, [*promised, *used])
    if relatives is not None and relatives.outside:
        raise StillUsed(f"{relatives.outside} asks for {bound.name}", hint="send force: true if nothing depends on it")


def _context(
    world: World, store: FactStore, resolver: Resolver, target: Target, deadline: float
) -> RenameContext | None:
    """Return what a rename of the target would start from; None for what cannot be renamed, and still be deleted."""
    facts, definition, name = world.facts(target.bound.file), target.definition, target.bound.name
    if facts is None or definition is None:
        return None
    if not world.language(facts).names.follows_imports and definition.kind not in ("function", "method", "property"):
        return None
    try:
        subject = subject_of(world, resolver, target)
    except NotRefactorable:
        return None
    return RenameContext(
        world=world, store=store, resolver=resolver, subject=subject, new=name, deadline=deadline, most=_MAX_USES
    )


def _is_another(resolver: Resolver, facts: Facts, target: Target, reference: Reference) -> bool:
    """Whether a definition belongs to another receiver: methods that name their receiver share a scope."""
    bound, mine = target.bound, target.definition
    if mine is None or reference.path != bound.file or facts.rows(bound.scope, bound.name):
        return False
    defined = resolver.definition_at(reference.path, facts, reference.offset)
    return defined is not None and defined.path != mine.path


def _deletion(bound: Bound, site: Site) -> Edit:
    span = site.span
    return Edit(
        path=bound.file,
        start=span.start,
        end=span.end,
        new=span.new,
        tier="PROVEN",
        role="DEFINITION",
        why="it is deleted",
    )


def _without_overlaps(edits: Sequence[Edit]) -> list[Edit]:
    """Return edits without overlaps: an edit inside another is dropped, one that overlaps is cut."""
    found: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.path, edit.start, -edit.end)):
        last = found[-1] if found else None
        if last is not None and last.path == edit.path and edit.start < last.end:
            if edit.end > last.end and not edit.new:
                found.append(
                    Edit(
                        path=edit.path,
                        start=last.end,
                        end=edit.end,
                        new="",
                        tier=edit.tier,
                        role=edit.role,
                        why=edit.why,
                    )
                )
            continue
        found.append(edit)
    return found


def _is_exported(world: World, facts: Facts, bound: Bound) -> bool:
    """Whether a module exports a name."""
    if world.language(facts).implicit_exports:
        return not bound.name.startswith("_")
    return any(bound.name in (export.local, export.name) for export in facts.exports)


def _still_used_error(world: World, name: str, used: Sequence[Reference]) -> StillUsed:
    ordered = sorted(used, key=lambda reference: (TIERS.index(reference.tier), reference.path, reference.offset))
    places: list[JsonValue] = []
    for path in ordered[:_SHOWN]:
        text = world.text(path.path)
        begin = text.rfind(b"\n", 0, path.offset) + 1
        places.append(
            {
                "path": path.path,
                "line": text.count(b"\n", 0, path.offset) + 1,
                "column": len(text[begin : path.offset].decode("utf-8", "replace")) + 1,
                "tier": path.tier,
                "role": path.role,
            }
        )
    counts: dict[str, JsonValue] = {tier: sum(reference.tier == tier for reference in used) for tier in TIERS}
    named = ", ".join(f"{place['path']}:{place['line']}" for place in places[:_NAMED] if isinstance(place, dict))
    more = f" and {len(used) - _NAMED} more" if len(used) > _NAMED else ""
    return StillUsed(
        f"{name} is still used in {len(used)} place{'s' * (len(used) != 1)}: {named}{more}",
        details={"total": len(used), "tiers": counts, "places": places},
    )


def _dangers(
    world: World, store: FactStore, bound: Bound, going: Sequence[Site], used: Sequence[Reference]
) -> list[Danger]:
    found: list[Danger] = []
    by_tier: dict[str, list[Reference]] = {}
    for reference in used:
        by_tier.setdefault(reference.tier, []).append(reference)
    for tier, some in by_tier.items():
        what = f"{plural(len(some), 'place')} may mean it"
        if tier != "UNKNOWN":
            what = f"{plural(len(some), 'reference', verbs=ARE)} left ({tier})"
        kind = "dangling_reference" if tier != "UNKNOWN" else "unresolved_use"
        found.append(Danger(kind=kind, what=what, path=some[0].path, offset=some[0].offset, count=len(some)))
    facts = world.facts(bound.file)
    if facts is not None and bound.scope == 0 and _is_exported(world, facts, bound):
        what = f"{bound.name} can be used from outside this repository"
        found.append(Danger(kind="public_api", what=what, path=bound.file, offset=going[0].start if going else None))
    for site in going:
        if site.computes:
            what = "what its value calls is not called any more"
            found.append(Danger(kind="side_effect", what=what, path=bound.file, offset=site.start))
    for path, _ in store.files_with(bound.name):
        others = world.facts(path) if path in world.snapshot.files else None
        for access in others.dynamic if others is not None else ():
            if access.literal == bound.name:
                what = f"{path} reaches {bound.name} by its name at run time"
                found.append(Danger(kind="dynamic_access", what=what, path=path, offset=access.at))
    return found


def _files(world: World, store: FactStore, path: str, *, force: bool, deadline: float) -> Draft:
    files = world.snapshot.files
    gone = [path] if path in files else sorted(file for file in files if path and file.startswith(f"{path}/"))
    if not gone:
        raise NotFound(f"there is no file or folder {path_text(path)}", hint="name it from the repository's root")
    stub = f"{path[:-3]}.pyi"
    if path.endswith(".py") and stub in files:
        gone.append(stub)
    used, scanned, late = find_importers(world, store, gone, path, deadline)
    if late and not force:
        raise StillUsed(f"not all imports of {path} could be looked at: {late}", hint="ask again, or send force: true")
    if used and not force:
        raise _still_used_error(world, path, used)
    dangers = [
        Danger(
            kind="dangling_import",
            what=f"{reference.path} imports what is deleted",
            path=reference.path,
            offset=reference.offset,
        )
        for reference in used
    ]
    for file in gone:
        folder = file.rpartition("/")[0]
        if file.endswith("/__init__.py") and any(
            other.startswith(f"{folder}/") for other in files if other not in gone
        ):
            what = f"{folder} is no regular package without it"
            dangers.append(Danger(kind="package_ends", what=what, path=file))
    return Draft(
        title=f"delete {path}",
        removes=tuple(gone),
        dangers=tuple(dangers),
        coverage=Coverage(files_scanned=scanned, truncated=late),
    )


def files_left_behind(folder: Path, root: Path, known: frozenset[str]) -> Danger | None:
    """Return a danger that names the files of a deleted folder that stay, because they are not in the index."""
    found: list[str] = []
    looked = 0
    for above, folders, names in os.walk(folder):
        folders.sort()
        looked += len(names)
        found += [path for name in sorted(names) if (path := os.path.relpath(Path(above, name), root)) not in known]
        if looked > _MAX_FILES:
            break
    if not found:
        return None
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    what = f"left out here, so they stay: {', '.join(map(path_text, found[:_NAMED]))}{more}"
    return Danger(kind="files_stay", what=what, count=len(found))
