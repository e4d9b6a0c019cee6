"""Collisions of the new name: places where it has a meaning already, which a rename would capture."""

from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound, Module
from codeplane.code.languages.expression import receiver
from codeplane.code.languages.member_side import side_of
from codeplane.code.model import Facts
from codeplane.code.resolve.tier import SURE
from codeplane.kernel.errors import NameTaken
from codeplane.kernel.json import JsonValue
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.calls import calls_naming
from codeplane.refactor.rename.family import related_members
from codeplane.refactor.rename.keyword_arguments import reaches
from codeplane.refactor.rename.rename_context import RenameContext

_MOST = 20
# Languages in which all files of a folder share their top-level names.

Taken = tuple[str, int, str]


def refuse_collisions(context: RenameContext, bounds: Sequence[Bound], edits: Sequence[Edit]) -> None:
    """Refuse a plan in which the new name would mean two things, with the places."""
    found = dict.fromkeys(_collisions(context, bounds, [edit for edit in edits if edit.tier in SURE]))
    if not found:
        return
    places: list[JsonValue] = [{**context.place_details(path, at), "why": why} for path, at, why in list(found)[:_MOST]]
    first_path, first_at, first_why = next(iter(found))
    first = context.place_details(first_path, first_at)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    raise NameTaken(
        f"{context.new} is taken: {first_why} at {first['path']}:{first['line']}:{first['column']}{more}",
        details={"places": places, "total": len(found)},
    )


def _collisions(context: RenameContext, bounds: Sequence[Bound], edits: Sequence[Edit]) -> Iterator[Taken]:
    for bound in bounds:
        yield from _in_scope(context, bound, "there is one in the same scope")
    if context.subject.owner is not None:
        for bound in bounds:
            yield from _in_classes(context, bound)
    if context.subject.sort == "top":
        yield from _in_folder(context)
        yield from _by_star(context)
        yield from _underscore_collisions(context, edits)
        yield from _beside_modules(context, edits)
        yield from _star_import_collisions(context)
    if context.subject.sort == "parameter":
        yield from _in_calls(context, edits)
    for edit in edits:
        other = context.resolver.other_at(edit.path, edit.start, context.name, context.new)
        if other is not None:
            yield edit.path, edit.start, f"{other.name} of {other.file} would be meant here"
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.path, []).append(edit)
    holding = {path for path, _ in context.files(context.new)}
    for path in sorted(by_file.keys() & holding):
        facts = context.world.facts(path)
        if facts is not None:
            yield from _in_file(context, bounds, path, facts, by_file[path])
        if context.is_late("the new name was looked for"):
            return


def _in_scope(context: RenameContext, bound: Bound, why: str) -> Iterator[Taken]:
    facts = context.world.facts(bound.file)
    if facts is None:
        return
    for row in facts.rows(bound.scope, context.new):
        if not _is_apart(context, bound.file, facts, facts.bind_at(row)):
            yield bound.file, facts.bind_at(row), why
    for index in facts.definitions_by_binding.get((bound.scope, context.new), ()):
        definition = facts.definitions[index]
        if _is_apart(context, bound.file, facts, definition.name_at):
            continue
        mine = context.subject.definition
        receivers = mine is not None and "." in mine.path and facts.scopes[bound.scope].kind == "file"
        if not receivers or definition.path.rpartition(".")[0] == (mine.path.rpartition(".")[0] if mine else ""):
            yield bound.file, definition.name_at, why


def _is_apart(context: RenameContext, path: str, facts: Facts, at: int) -> bool:
    """Whether of two names of one scope one is called and the other is not, so that they never mean each other."""
    if not context.subject.language.classes.members_by_kind or not context.side:
        return False
    defined = context.resolver.definition_at(path, facts, at)
    side = side_of(facts, context.world.text(path), defined) if defined is not None else "field"
    return side != "" and (side == "method") != (context.side == "method")


def _in_classes(context: RenameContext, bound: Bound) -> Iterator[Taken]:
    facts = context.world.facts(bound.file)
    of = facts.scopes[bound.scope].definition if facts is not None else -1
    if facts is None or of < 0:
        return
    owner = Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name)
    for member in related_members(context, owner, context.new):
        there = context.world.facts(member.file)
        for index in there.definitions_by_binding.get((member.scope, context.new), ()) if there is not None else ():
            assert there is not None
            if _is_apart(context, member.file, there, there.definitions[index].name_at):
                continue
            yield member.file, there.definitions[index].name_at, "a class it is related to has a member of that name"


def _in_folder(context: RenameContext) -> Iterator[Taken]:
    """Yield collisions in other files of the same package, and with its modules."""
    path = context.subject.bound.file
    folder = path.rpartition("/")[0]
    if context.subject.language.names.folder_packages:
        for symbol in context.store.find_symbols(context.new, limit=1_000):
            facts = context.world.facts(symbol.file) if symbol.file.rpartition("/")[0] == folder else None
            if facts is not None and symbol.position < len(facts.definitions) and symbol.file != path:
                definition = facts.definitions[symbol.position]
                if definition.scope == 0 and "." not in definition.path:
                    yield symbol.file, definition.name_at, "another file of the package has it"
    elif path.endswith("__init__.py"):
        module = context.world.python().submodule(path, context.new)
        if module is not None and module in context.world.snapshot.files:
            yield module, 0, "the package has a module of that name"


def _by_star(context: RenameContext) -> Iterator[Taken]:
    """Yield collisions in files that import everything from the subject's module."""
    for path, facts in context.files(context.new) if context.subject.language.names.binds_stars else ():
        if not facts.star or path == context.subject.bound.file:
            continue
        if not _is_brought(context, path, facts):
            continue
        rows = facts.rows(0, context.new)
        for row in rows:
            yield path, facts.bind_at(row), "it takes everything from there, and has one of its own"
        if not rows and context.resolver.export(path, context.new):
            star = next(import_ for import_ in facts.imports if import_.imported == "*")
            yield path, star.at, "it takes everything from there, and one of that name from elsewhere"


def _star_import_collisions(context: RenameContext) -> Iterator[Taken]:
    """Yield a collision with a name that the subject's file gets by `import *`."""
    path, facts = context.subject.bound.file, context.subject.facts
    if facts.star and context.subject.language.names.binds_stars and context.resolver.export(path, context.new):
        star = next(import_ for import_ in facts.imports if import_.imported == "*")
        yield path, star.at, "import * brings one of that name"


def _is_brought(context: RenameContext, path: str, facts: Facts) -> bool:
    """Whether a file's `import *` brings the subject, now or under its new name."""
    if context.subject.bound in context.resolver.export(path, context.name):
        return True
    stars = [import_ for import_ in facts.imports if import_.imported == "*"] if context.name.startswith("_") else []
    return any(context.subject.bound.file in context.world.python().find(star.source, path) for star in stars)


def _beside_modules(context: RenameContext, edits: Sequence[Edit]) -> Iterator[Taken]:
    """Yield packages that re-export the subject and have a module of the new name."""
    for path in sorted({edit.path for edit in edits if edit.path.endswith("/__init__.py")}):
        module = context.world.python().submodule(path, context.new)
        if module is not None and path != context.subject.bound.file and module in context.world.snapshot.files:
            yield module, 0, "a package that gives it has a module of that name"


def _underscore_collisions(context: RenameContext, edits: Sequence[Edit]) -> Iterator[Taken]:
    """Yield files that get the subject by `import *`, which skips names with an underscore."""
    if not context.subject.language.names.binds_stars:
        return
    if not context.new.startswith("_") or context.name.startswith("_"):
        return
    holding = dict(context.files(context.name))
    for path, facts in list(holding.items()):
        for import_ in facts.imports:
            for place in context.world.python().find(import_.source, path) if import_.imported == context.name else ():
                if (given := context.world.facts(place)) is not None:
                    holding.setdefault(place, given)
    for edit in edits:
        there = context.world.facts(edit.path)
        owner = context.resolver.owner_at(edit.path, there, edit.start) if there is not None else None
        if isinstance(owner, Module) and (given := context.world.facts(owner.path)) is not None:
            holding.setdefault(owner.path, given)
    for path, facts in holding.items():
        if not facts.star or facts.rows(0, context.name):
            continue
        if context.subject.bound in context.resolver.export(path, context.name) and not _lists(context, path, facts):
            star = next(import_ for import_ in facts.imports if import_.imported == "*")
            yield path, star.at, "import * leaves out what begins with an underscore"


def _lists(context: RenameContext, path: str, facts: Facts) -> bool:
    """Whether every module behind an `import *` lists the subject in `__all__`."""
    giving = [
        place
        for import_ in facts.imports
        if import_.imported == "*"
        for place in context.world.python().find(import_.source, path)
        if context.subject.bound in context.resolver.export(place, context.name)
    ]
    return all(
        any(export.evidence == "all" and export.name == context.name for export in given.exports)
        for place in giving
        if (given := context.world.facts(place)) is not None
    )


def _in_calls(context: RenameContext, edits: Sequence[Edit]) -> Iterator[Taken]:
    """Yield calls that already pass an argument of the new name."""
    function = context.subject.function
    if function is None or not context.subject.language.names.named_arguments:
        return
    for path, facts in context.files(context.new):
        for call in calls_naming(context, path, facts, context.new):
            if reaches(context, facts, call, function) in SURE:
                yield path, call.at, "a call gives an argument of that name"


def _in_file(
    context: RenameContext, bounds: Sequence[Bound], path: str, facts: Facts, edits: Sequence[Edit]
) -> Iterator[Taken]:
    text, resolver = context.world.text(path), context.resolver
    homes: set[int] = set()
    for edit in edits:
        if edit.role == "KEYWORD" or facts.in_text(edit.start) or edit.start in facts.labels:
            continue
        if receiver(text, edit.start, facts.in_text) != ():
            continue
        own = resolver.lexical(path, facts, edit.start, context.name)
        if own is None and facts.star:
            own = Bound(path, 0, context.name)
        if own is None or (facts.scopes[own.scope].kind in ("class", "interface") and own not in bounds):
            continue
        homes.add(own.scope)
        if edit.start in facts.imported_at and own not in bounds:
            yield from _in_scope(context, own, "the file that imports it has one")
        captor = resolver.lexical(path, facts, edit.start, context.new)
        if captor is not None and captor.scope != own.scope and _within(facts, captor.scope, own.scope):
            for row in facts.rows(captor.scope, context.new)[:1]:
                if _is_apart(context, path, facts, facts.bind_at(row)):
                    continue
                yield path, facts.bind_at(row), "a use of it would mean this one instead"
    if homes:
        yield from _captured_uses(context, path, facts, text, homes)


def _captured_uses(context: RenameContext, path: str, facts: Facts, text: bytes, homes: set[int]) -> Iterator[Taken]:
    """Yield uses of an outer name that the renamed one would hide."""
    resolver = context.resolver
    imported = facts.imported_at
    for at in context.places(path, context.new):
        if facts.in_text(at) or at in facts.labels or (at in imported and facts.imports[imported[at]].local_at != at):
            continue
        if receiver(text, at, facts.in_text) != () or resolver.definition_at(path, facts, at) is not None:
            continue
        called = text[at + len(context.new.encode()) :][:20].lstrip()[:1] == b"("
        by_kind = context.subject.language.classes.members_by_kind
        if by_kind and context.side in ("field", "method") and called != (context.side == "method"):
            continue
        own = resolver.lexical(path, facts, at, context.new)
        seen_from = facts.scope_at(at)
        if facts.in_outer(at):
            seen_from = max(facts.scopes[seen_from].parent, 0)
        for home in homes:
            hidden = facts.scopes[home].kind in context.subject.language.hidden_from_functions
            sees = seen_from == home if hidden else _within(facts, seen_from, home)
            if sees and (own is None or (_within(facts, home, own.scope) and own.scope != home)):
                yield path, at, "what this means now would be hidden"


def _within(facts: Facts, inner: int, outer: int) -> bool:
    """Whether a scope is another one, or is inside it."""
    while inner > outer:
        inner = facts.scopes[inner].parent
    return inner == outer
