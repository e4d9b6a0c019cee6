"""Uses of a symbol in Python doctests: the lines behind `>>>` of docstrings and documents are code."""

import builtins
from collections.abc import Iterator, Sequence
from itertools import groupby

from codeplane.code.entity import Bound, Entity, Module, Outside
from codeplane.code.resolve.classes import CLASSES
from codeplane.code.resolve.tier import Tier
from codeplane.query.search.memmem import find
from codeplane.refactor.documents.changelogs import is_historical
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.doctest_names import DoctestNames, NameUse, read_doctests
from codeplane.refactor.rename.rename_context import RenameContext

PROMPT = b">>> "
_ENDINGS = (".rst", ".md", ".mdx", ".txt")
_WHY = "in a doctest"


def doctest_edits(context: RenameContext, bounds: Sequence[Bound]) -> Iterator[Edit]:
    """Yield an edit for every name in a doctest that is or may be a use of the symbol."""
    if not context.subject.language.names.names_in_strings or context.subject.sort == "local":
        return
    for path, first, shown in _texts(context):
        doctests = read_doctests(shown, context.name)
        for use in doctests.uses:
            tier = _tier(context, bounds, path, doctests, use)
            if tier is None:
                continue
            if tier == "STRONG" and context.new in doctests.names:
                tier = "UNKNOWN"
            start = first + use.at
            yield Edit(
                path=path,
                start=start,
                end=start + context.length,
                new=context.new,
                tier=tier,
                role="STRING",
                why=_WHY,
            )
        if context.is_late("doctests were read"):
            return


def _texts(context: RenameContext) -> Iterator[tuple[str, int, bytes]]:
    """Yield the docstrings and documents with doctests and the name: a file, where the text begins, and the text."""
    for path, facts in context.files(context.name):
        text = context.world.text(path)
        if PROMPT not in text:
            continue
        inside = (at for at in context.places(path, context.name) if facts.in_text(at))
        for (start, end), _ in groupby(inside, key=facts.text_span):
            if PROMPT in text[start:end] and not text.startswith(b"#", start):
                yield path, start, text[start:end]
    snapshot, wanted = context.world.snapshot, context.name.encode()
    for known in snapshot.texts:
        if not known.path.lower().endswith(_ENDINGS) or is_historical(known.path):
            continue
        if find(snapshot.content, wanted, known.offset, known.offset + known.length) < 0:
            continue
        text = context.world.text(known.path)
        if PROMPT in text:
            yield known.path, 0, text


def _tier(
    context: RenameContext, bounds: Sequence[Bound], path: str, doctests: DoctestNames, use: NameUse
) -> Tier | None:
    """Return how certain a name in a doctest is one of these definitions; None if it is something else."""
    if use.kind == "broken":
        return "UNKNOWN"
    sort = context.subject.sort
    if (use.kind == "keyword") != (sort == "parameter"):
        return None
    if use.kind == "keyword":
        return _of_keyword(context, path, doctests, use)
    if use.kind == "import":
        return _of(_given_by(context, path, use.before), bounds)
    if use.kind == "name":
        if sort == "member":
            return None
        meant = _meaning(context, path, doctests, (context.name,))
        if meant is not None:
            return _of(meant, bounds)
        # A name that nothing brings may come from the settings of whoever runs the document.
        return None if context.name in doctests.bound or hasattr(builtins, context.name) else "UNKNOWN"
    receiver = _meaning(context, path, doctests, use.before) if use.before else None
    if receiver is None:
        return "ANCHORED" if sort == "member" else None
    found = _step(context, receiver, context.name)
    # What a function gives, or a base that is not here has, is not known.
    unseen = sort == "member" and any(isinstance(entity, Bound) for entity in receiver)
    return _of(found, bounds) if found or not unseen else "ANCHORED"


def _of(found: Sequence[Entity], bounds: Sequence[Bound]) -> Tier | None:
    if found and all(entity in bounds for entity in found):
        return "STRONG"
    return "UNKNOWN" if any(entity in bounds for entity in found) else None


def _of_keyword(context: RenameContext, path: str, doctests: DoctestNames, use: NameUse) -> Tier | None:
    function = context.subject.function
    if function is None:
        return None
    called = _meaning(context, path, doctests, use.before) if use.before else None
    if called is None:
        return "ANCHORED" if use.before[-1:] in ((function.name,), ()) else None
    reached = [*called, *_step(context, called, "__init__")]
    return "STRONG" if len(called) == 1 and function in reached else "UNKNOWN" if function in reached else None


def _meaning(
    context: RenameContext, path: str, doctests: DoctestNames, steps: Sequence[str]
) -> tuple[Entity, ...] | None:
    """Return what a dotted name means in a doctest; None if nothing says so."""
    first, rest = steps[0], steps[1:]
    sources = doctests.bound.get(first)
    if sources is None:
        found = context.resolver.export(path, first) if context.world.facts(path) is not None else ()
        if not found and rest:
            found = tuple(map(Module, context.world.python().find(first, path)))
    elif () not in sources:
        found = tuple(entity for source in sources for entity in _given_by(context, path, source))
    else:
        # A member of what a class makes is looked up in the class.
        maker = doctests.maker(first)
        found = _meaning(context, path, doctests, maker) or () if maker and maker[0] != first else ()
        found = found if all(_is_class(context, entity) for entity in found) else ()
    for step in rest:
        found = _step(context, found, step)
    return found or None


def _is_class(context: RenameContext, entity: Entity) -> bool:
    return isinstance(entity, Outside) or (
        isinstance(entity, Bound)
        and any(definition.kind in CLASSES for _, definition in context.resolver.definitions(entity))
    )


def _given_by(context: RenameContext, path: str, source: Sequence[str]) -> tuple[Entity, ...]:
    """Return what an import in a doctest gives: a module, or a name of it."""
    modules = context.world.python().find(source[0], path)
    if len(source) == 1 or not modules:
        return tuple(map(Module, modules)) or (Outside(source[0]),)
    return tuple(entity for module in modules for entity in context.resolver.export(module, source[1]))


def _step(context: RenameContext, found: Sequence[Entity], name: str) -> tuple[Entity, ...]:
    """Return the members of that name."""
    result: list[Entity] = []
    for entity in found:
        if isinstance(entity, Module):
            result += context.resolver.export(entity.path, name)
        elif isinstance(entity, Bound):
            member, _ = context.resolver.member(entity, name)
            result += [member] if member is not None else []
        elif isinstance(entity, Outside):
            result.append(entity)
    return tuple(result)
