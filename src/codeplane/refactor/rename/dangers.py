"""What a rename cannot see: access at run time, broken files, users elsewhere."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.evidence import decorators, is_property
from codeplane.code.resolve.tier import SURE
from codeplane.index.files.paths import shown
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.refactor.draft import Danger, Edit
from codeplane.refactor.rename.by_text import code_in_text
from codeplane.refactor.rename.family import Family, heirs_with
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.new_name import is_dunder, is_mangled
from codeplane.refactor.rename.relatives import foreign_bases
from codeplane.refactor.rename.subject import is_fixture

_KEYED = frozenset({"getattr", "bracket_access"})
_MOST = 20
_SAID = re.compile(rb"\b(interface|type|const|let|var|function|class|enum)\s+$")
_SELF = re.compile(rb"\bself\s*\.\s*$")
_SET = re.compile(rb"[ \t]*(?::[^=\n]+)?=(?!=)")
_HARMLESS = re.compile(
    rb"^\s*@(?:[\w.]+\.)?(?:property|staticmethod|classmethod|overload|override|abstractmethod|cached_property|wraps|"
    rb"cache|lru_cache|contextmanager|asynccontextmanager|final|dataclass|setter|getter|deleter|deprecated)\b"
)


def dangers_of(ground: Ground, family: Family, edits: Sequence[Edit]) -> Iterator[Danger]:
    """Everything somebody should know before this is applied."""
    yield from _at_run_time(ground, edits)
    yield from code_in_text(ground)
    yield from _twice(ground)
    yield from _both(ground)
    yield from _in_strings(ground, edits)
    yield from _stars(ground)
    yield from _public(ground)
    yield from _private(ground)
    yield from _outside(ground, family)
    yield from foreign_bases(ground)
    yield from _decorated(ground)
    yield from _parameters(ground)
    copies = [edit for edit in edits if is_copy(edit.path)]
    if copies:
        what = "uses in files that are built or brought along are proposed, not applied"
        yield Danger(kind="copies", what=what, path=copies[0].path, offset=copies[0].start, count=len(copies))


def unparsed(ground: Ground) -> tuple[str, ...]:
    """The files that hold the name and whose facts are partial or none."""
    name, found = ground.name.encode(), []
    for path in ground.store.problems():
        known = ground.world.snapshot.files.get(path)
        if known is None or known.skipped is not None:
            continue
        if name in ground.world.text(path) and ground.places(path, ground.name):
            found.append(path)
    found += [path for path in ground.world.missing if path not in found]
    return tuple(sorted(found))


def _at_run_time(ground: Ground, edits: Sequence[Edit]) -> Iterator[Danger]:
    """Sites that reach names by text: those with this one, and those with any, in files that speak of it."""
    if ground.subject.sort in ("parameter", "local"):
        return
    computed: list[tuple[str, int]] = []
    spoken = {edit.path for edit in edits if edit.tier in SURE}
    for path, facts in ground.files(ground.name):
        for one in facts.dynamic:
            if one.literal == ground.name:
                what = f"{ground.name} is reached by its text ({one.pattern})"
                yield Danger(kind="dynamic_access", what=what, path=path, offset=one.at)
            elif one.literal is None and one.pattern in _KEYED and path in spoken and ground.subject.sort == "member":
                computed.append((path, one.at))
    if computed:
        path, at = computed[0]
        what = "members are reached by computed names in files that use it"
        yield Danger(kind="computed_access", what=what, path=path, offset=at, count=len(computed))


def _twice(ground: Ground) -> Iterator[Danger]:
    """A method of a class of Python that its instances have something else for: both are renamed."""
    subject = ground.subject
    if not subject.language.classes.rebindable or subject.sort != "member":
        return
    text = ground.world.text(subject.bound.file)
    found = [one for _, one in ground.resolver.definitions(subject.bound)]
    if not found or found[0].kind not in ("method", "function") or is_property(text, found[0]):
        return
    for at in ground.places(subject.bound.file, subject.name):
        if _SELF.search(text, max(0, at - 20), at) and _SET.match(text, at + ground.length):
            around = ground.resolver.enclosing_class(subject.bound.file, subject.facts, at)
            if around == subject.owner and not subject.facts.in_text(at):
                what = f"{subject.name} is a method, and something else that instances are given; both are renamed"
                yield Danger(kind="two_members", what=what, path=subject.bound.file, offset=at)
                return


def _both(ground: Ground) -> Iterator[Danger]:
    """A type of TypeScript and a value that share their name, which are imported as one: both are renamed."""
    subject = ground.subject
    if subject.sort != "top" or not subject.language.names.types_and_values:
        return
    facts, text = subject.facts, ground.world.text(subject.bound.file)
    rows = facts.rows(0, subject.name)
    said = {_SAID.search(text, max(0, at - 40), at) for at in (facts.bind_at(row) for row in rows)}
    words = {one[1] for one in said if one is not None}
    if words & {b"interface", b"type"} and words & {b"const", b"let", b"var", b"function"}:
        what = f"{subject.name} is a type and a value; both are renamed"
        yield Danger(kind="type_and_value", what=what, path=subject.bound.file, offset=subject.at)


def _in_strings(ground: Ground, edits: Sequence[Edit]) -> Iterator[Danger]:
    done = {(edit.path, edit.start) for edit in edits}
    first: tuple[str, int] | None = None
    count = beside = 0
    for path, facts in ground.files(ground.name):
        text = ground.world.text(path)
        for at in ground.places(path, ground.name):
            if not facts.in_text(at) or (path, at) in done:
                continue
            quotes = text[at - 1 : at], text[at + ground.length : at + ground.length + 1]
            if quotes[0] == quotes[1] and quotes[0] in (b'"', b"'", b"`"):
                count += 1
                first = first or (path, at)
            elif LANGUAGES[facts.language].embedded:
                beside += 1
        if beside:
            what = f"the markup of {shown(path)} may use it"
            yield Danger(kind="markup", what=what, path=path, count=beside)
            beside = 0
    if first is not None:
        what = f"strings that are {ground.name!r} and nothing else are left alone"
        yield Danger(kind="in_strings", what=what, path=first[0], offset=first[1], count=count)


def _stars(ground: Ground) -> Iterator[Danger]:
    """Files that take everything from a module that cannot be read, and use a name nothing there explains."""
    if ground.subject.sort != "top" or not ground.subject.language.names.binds_stars:
        return
    for path, facts in ground.files(ground.name):
        if not facts.star or path == ground.subject.bound.file:
            continue
        loose = [at for at in ground.places(path, ground.name) if not facts.in_text(at) and at not in facts.labels]
        unseen = [
            one for one in facts.imports if one.imported == "*" and not ground.world.python().find(one.source, path)
        ]
        for at in loose[:1] if unseen else ():
            if not ground.resolver.at(path, at, ground.name).entities:
                what = f"{shown(path)} takes everything from {unseen[0].source}, which is not here"
                yield Danger(kind="star_import", what=what, path=path, offset=at)


def _public(ground: Ground) -> Iterator[Danger]:
    subject = ground.subject
    if subject.sort not in ("top", "member") or subject.name.startswith(("_", "#")) or is_test(subject.bound.file):
        return
    if subject.language.contract.visible == "capital" and not subject.name[:1].isupper():
        return
    facts = subject.facts
    given = any(one.local == subject.name or one.name == subject.name for one in facts.exports)
    owner = subject.owner
    if owner is not None:
        given = any(owner.name in (one.local, one.name) for one in facts.exports)
    implicit = subject.language.implicit_exports and not (owner is not None and owner.name.startswith("_"))
    if given or implicit or not subject.language.names.follows_imports:
        yield Danger(
            kind="public_api",
            what=f"{subject.name} can be used from outside this repository",
            path=subject.bound.file,
            offset=subject.at,
        )


def _private(ground: Ground) -> Iterator[Danger]:
    language = ground.subject.language
    if not language.classes.mangles_private or ground.subject.sort not in ("member", "top"):
        return
    if is_dunder(ground.new):
        yield Danger(kind="dunder", what=f"{language.title} may look for {ground.new} itself")
    elif ground.subject.sort == "member" and is_mangled(ground.new):
        yield Danger(kind="name_mangling", what=f"{ground.new} is the class's own: subclasses and others do not see it")
    elif ground.subject.sort == "member" and is_mangled(ground.name):
        yield Danger(kind="name_mangling", what=f"{ground.name} was the class's own; {ground.new} can be overridden")


def _outside(ground: Ground, family: Family) -> Iterator[Danger]:
    for owner in family.outside[:_MOST]:
        facts = ground.world.facts(owner.file)
        definition = next((one for _, one in ground.resolver.definitions(owner)), None)
        if facts is not None and definition is not None:
            what = f"{owner.name} builds on a class that is not here: if that one has {ground.name}, this overrides it"
            yield Danger(kind="outside_base", what=what, path=owner.file, offset=definition.name_at)


def _decorated(ground: Ground) -> Iterator[Danger]:
    """Decorators of others may hand a function's name, or those of its parameters, to somebody."""
    subject = ground.subject
    of = subject.function if subject.sort == "parameter" else subject.bound
    if of is None or not subject.language.contract.decorators:
        return
    for _, one in ground.resolver.definitions(of):
        above = decorators(ground.world.text(of.file), one)
        lines = [line for line in above.splitlines() if line.strip().startswith(b"@") and not _HARMLESS.match(line)]
        if lines and one.kind in ("function", "method"):
            fixture = is_fixture(ground.world, of.file, one)
            said = lines[0].strip()[:60].decode("utf-8", "replace")
            yield Danger(
                kind="fixture" if fixture else "decorated",
                what=f"tests ask for it by the name {one.name}" if fixture else f"{said} may use its names",
                path=of.file,
                offset=one.name_at,
            )
            return


def _parameters(ground: Ground) -> Iterator[Danger]:
    """Methods that override the one whose parameter is renamed keep the old name."""
    subject = ground.subject
    function = subject.function
    if function is None or subject.facts.scopes[function.scope].kind not in ("class", "interface"):
        return
    of = subject.facts.scopes[function.scope].definition
    if of < 0 or is_dunder(function.name):
        return
    owner = Bound(function.file, subject.facts.definitions[of].scope, subject.facts.definitions[of].name)
    others = [one for one in heirs_with(ground, owner, function.name) if one != function]
    for one in others[:_MOST]:
        facts = ground.world.facts(one.file)
        index = facts.declared.get((one.scope, one.name), [-1])[0] if facts is not None else -1
        body = facts.body_of.get(index, -1) if facts is not None else -1
        if facts is not None and body >= 0 and facts.bound.get((body, subject.name)):
            what = f"{function.name} is overridden or overrides: its parameter {subject.name} is not renamed here"
            yield Danger(kind="overriding_parameter", what=what, path=one.file, offset=facts.definitions[index].name_at)
