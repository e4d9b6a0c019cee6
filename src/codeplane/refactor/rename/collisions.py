"""Where the new name means something already: there the rename would capture, or be captured."""

from collections.abc import Iterator, Sequence

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.entity import Bound, Module
from codeplane.code.resolve.expression import receiver
from codeplane.code.resolve.tier import SURE
from codeplane.kernel.errors import NameTaken
from codeplane.kernel.json import JsonValue
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.family import heirs_with
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.keywords import calls_naming, reaches

_MOST = 20
# Languages in which all files of a folder share their outermost names.

Taken = tuple[str, int, str]


def refuse_collisions(ground: Ground, bounds: Sequence[Bound], edits: Sequence[Edit]) -> None:
    """Refuse a plan in which the new name would mean two things; the places are told."""
    found = dict.fromkeys(_taken(ground, bounds, [edit for edit in edits if edit.tier in SURE]))
    if not found:
        return
    places: list[JsonValue] = [{**ground.shown_at(path, at), "why": why} for path, at, why in list(found)[:_MOST]]
    first_path, first_at, first_why = next(iter(found))
    first = ground.shown_at(first_path, first_at)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    raise NameTaken(
        f"{ground.new} is taken: {first_why} at {first['path']}:{first['line']}:{first['column']}{more}",
        details={"places": places, "total": len(found)},
    )


def _taken(ground: Ground, bounds: Sequence[Bound], edits: Sequence[Edit]) -> Iterator[Taken]:
    for bound in bounds:
        yield from _in_scope(ground, bound, "there is one in the same scope")
    if ground.subject.owner is not None:
        for bound in bounds:
            yield from _in_classes(ground, bound)
    if ground.subject.sort == "top":
        yield from _in_folder(ground)
        yield from _by_star(ground)
        yield from _left_out(ground, edits)
        yield from _beside_modules(ground, edits)
        yield from _brought_here(ground)
    if ground.subject.sort == "parameter":
        yield from _in_calls(ground, edits)
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.path, []).append(edit)
    holding = {path for path, _ in ground.files(ground.new)}
    for path in sorted(by_file.keys() & holding):
        facts = ground.world.facts(path)
        if facts is not None:
            yield from _in_file(ground, bounds, path, facts, by_file[path])
        if ground.late("the new name was looked for"):
            return


def _in_scope(ground: Ground, bound: Bound, why: str) -> Iterator[Taken]:
    facts = ground.world.facts(bound.file)
    if facts is None:
        return
    for row in facts.rows(bound.scope, ground.new):
        yield bound.file, facts.bind_at(row), why
    for index in facts.declared.get((bound.scope, ground.new), ()):
        one = facts.definitions[index]
        mine = ground.subject.definition
        receivers = mine is not None and "." in mine.path and facts.scopes[bound.scope].kind == "file"
        if not receivers or one.path.rpartition(".")[0] == (mine.path.rpartition(".")[0] if mine else ""):
            yield bound.file, one.name_at, why


def _in_classes(ground: Ground, bound: Bound) -> Iterator[Taken]:
    facts = ground.world.facts(bound.file)
    of = facts.scopes[bound.scope].definition if facts is not None else -1
    if facts is None or of < 0:
        return
    owner = Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name)
    for member in heirs_with(ground, owner, ground.new):
        there = ground.world.facts(member.file)
        for index in there.declared.get((member.scope, ground.new), ()) if there is not None else ():
            assert there is not None
            yield member.file, there.definitions[index].name_at, "a class it is related to has a member of that name"


def _in_folder(ground: Ground) -> Iterator[Taken]:
    """Names that are next to the subject without being in its file: other files of a package, its modules."""
    path = ground.subject.bound.file
    folder = path.rpartition("/")[0]
    if ground.subject.language.names.folder_packages:
        for one in ground.store.named(ground.new, limit=1_000):
            facts = ground.world.facts(one.file) if one.file.rpartition("/")[0] == folder else None
            if facts is not None and one.position < len(facts.definitions) and one.file != path:
                definition = facts.definitions[one.position]
                if definition.scope == 0 and "." not in definition.path:
                    yield one.file, definition.name_at, "another file of the package has it"
    elif path.endswith("__init__.py"):
        module = ground.world.python().submodule(path, ground.new)
        if module is not None and module in ground.world.snapshot.files:
            yield module, 0, "the package has a module of that name"


def _by_star(ground: Ground) -> Iterator[Taken]:
    """Files that take everything from where the subject is, and have that name themselves."""
    for path, facts in ground.files(ground.new) if ground.subject.language.names.binds_stars else ():
        if not facts.star or path == ground.subject.bound.file:
            continue
        if not _is_brought(ground, path, facts):
            continue
        rows = facts.rows(0, ground.new)
        for row in rows:
            yield path, facts.bind_at(row), "it takes everything from there, and has one of its own"
        if not rows and ground.resolver.export(path, ground.new):
            star = next(one for one in facts.imports if one.imported == "*")
            yield path, star.at, "it takes everything from there, and one of that name from elsewhere"


def _brought_here(ground: Ground) -> Iterator[Taken]:
    """What the subject's own file takes with everything of another, and passes on."""
    path, facts = ground.subject.bound.file, ground.subject.facts
    if facts.star and ground.subject.language.names.binds_stars and ground.resolver.export(path, ground.new):
        star = next(one for one in facts.imports if one.imported == "*")
        yield path, star.at, "import * brings one of that name"


def _is_brought(ground: Ground, path: str, facts: Facts) -> bool:
    """Whether a file's `import *` brings the subject, now or under its new name."""
    if ground.subject.bound in ground.resolver.export(path, ground.name):
        return True
    stars = [one for one in facts.imports if one.imported == "*"] if ground.name.startswith("_") else []
    return any(ground.subject.bound.file in ground.world.python().find(one.source, path) for one in stars)


def _beside_modules(ground: Ground, edits: Sequence[Edit]) -> Iterator[Taken]:
    """Packages that pass the subject on, and have a module of the new name."""
    for path in sorted({edit.path for edit in edits if edit.path.endswith("/__init__.py")}):
        module = ground.world.python().submodule(path, ground.new)
        if module is not None and path != ground.subject.bound.file and module in ground.world.snapshot.files:
            yield module, 0, "a package that gives it has a module of that name"


def _left_out(ground: Ground, edits: Sequence[Edit]) -> Iterator[Taken]:
    """Files that use the subject because they take everything: a name with an underscore is not among that."""
    if not ground.subject.language.names.binds_stars:
        return
    if not ground.new.startswith("_") or ground.name.startswith("_"):
        return
    holding = dict(ground.files(ground.name))
    for path, facts in list(holding.items()):
        for one in facts.imports:
            for place in ground.world.python().find(one.source, path) if one.imported == ground.name else ():
                if (given := ground.world.facts(place)) is not None:
                    holding.setdefault(place, given)
    for edit in edits:
        there = ground.world.facts(edit.path)
        owner = ground.resolver.owner_at(edit.path, there, edit.start) if there is not None else None
        if isinstance(owner, Module) and (given := ground.world.facts(owner.path)) is not None:
            holding.setdefault(owner.path, given)
    for path, facts in holding.items():
        if not facts.star or facts.rows(0, ground.name):
            continue
        if ground.subject.bound in ground.resolver.export(path, ground.name) and not _lists(ground, path, facts):
            star = next(one for one in facts.imports if one.imported == "*")
            yield path, star.at, "import * leaves out what begins with an underscore"


def _lists(ground: Ground, path: str, facts: Facts) -> bool:
    """Whether every module that everything is taken from lists the subject."""
    giving = [
        place
        for one in facts.imports
        if one.imported == "*"
        for place in ground.world.python().find(one.source, path)
        if ground.subject.bound in ground.resolver.export(place, ground.name)
    ]
    return all(
        any(one.evidence == "all" and one.name == ground.name for one in given.exports)
        for place in giving
        if (given := ground.world.facts(place)) is not None
    )


def _in_calls(ground: Ground, edits: Sequence[Edit]) -> Iterator[Taken]:
    """Calls that already give an argument of the new name, which something else takes."""
    function = ground.subject.function
    if function is None or not ground.subject.language.names.named_arguments:
        return
    for path, facts in ground.files(ground.new):
        for call in calls_naming(ground, path, facts, ground.new):
            if reaches(ground, facts, call, function) in SURE:
                yield path, call.at, "a call gives an argument of that name"


def _in_file(
    ground: Ground, bounds: Sequence[Bound], path: str, facts: Facts, edits: Sequence[Edit]
) -> Iterator[Taken]:
    text, resolver = ground.world.text(path), ground.resolver
    homes: set[int] = set()
    for edit in edits:
        if edit.role == "KEYWORD" or facts.in_text(edit.start) or edit.start in facts.labels:
            continue
        if receiver(text, edit.start, facts.in_text) != ():
            continue
        own = resolver.lexical(path, facts, edit.start, ground.name)
        if own is None and facts.star:
            own = Bound(path, 0, ground.name)
        if own is None or (facts.scopes[own.scope].kind in ("class", "interface") and own not in bounds):
            continue
        homes.add(own.scope)
        if edit.start in facts.imported_at and own not in bounds:
            yield from _in_scope(ground, own, "the file that imports it has one")
        captor = resolver.lexical(path, facts, edit.start, ground.new)
        if captor is not None and captor.scope != own.scope and _within(facts, captor.scope, own.scope):
            for row in facts.rows(captor.scope, ground.new)[:1]:
                yield path, facts.bind_at(row), "a use of it would mean this one instead"
    if homes:
        yield from _captured(ground, path, facts, text, homes)


def _captured(ground: Ground, path: str, facts: Facts, text: bytes, homes: set[int]) -> Iterator[Taken]:
    """Uses of what has the new name further out: the renamed one would stand before it."""
    resolver = ground.resolver
    imported = facts.imported_at
    for at in ground.places(path, ground.new):
        if facts.in_text(at) or at in facts.labels or (at in imported and facts.imports[imported[at]].local_at != at):
            continue
        if receiver(text, at, facts.in_text) != () or resolver.defined_at(path, facts, at) is not None:
            continue
        own = resolver.lexical(path, facts, at, ground.new)
        seen_from = facts.scope_at(at)
        if facts.in_outer(at):
            seen_from = max(facts.scopes[seen_from].parent, 0)
        for home in homes:
            hidden = facts.scopes[home].kind in ground.subject.language.hidden_from_functions
            sees = seen_from == home if hidden else _within(facts, seen_from, home)
            if sees and (own is None or (_within(facts, home, own.scope) and own.scope != home)):
                yield path, at, "what this means now would be hidden"


def _within(facts: Facts, inner: int, outer: int) -> bool:
    """Whether a scope is another one, or lies in it."""
    while inner > outer:
        inner = facts.scopes[inner].parent
    return inner == outer
