"""The edits that references ask for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from msgspec import structs

from codeplane.code.facts.model import REASONS, Facts
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.instance import Side, side_of
from codeplane.code.resolve.references import Reference, occurrences, references
from codeplane.code.resolve.tier import SURE
from codeplane.index.path_kinds import is_copy
from codeplane.kernel.errors import InvalidArgument
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.new_name import is_mangled
from codeplane.refactor.rename.spelling import Spelling
from codeplane.refactor.rename.written import is_shorthand, under_new_name

_IMPORT = REASONS.index("IMPORT_ALIAS")
_WHY = {
    "PROVEN": "bound in this file",
    "STRONG": "followed through imports, or through a receiver whose class is written",
    "ANCHORED": "a member of that name; what it is a member of is not certain",
    "UNKNOWN": "the same name; nothing says what it means",
}
# What stands before the name of a member.
_ACCESS = (b".", b"->", b"::")


def place_edits(ground: Ground, bounds: Sequence[Bound]) -> list[Edit]:
    """An edit for every place that is, or may be, a reference to one of these bindings."""
    found: list[Reference] = []
    mangled = ground.subject.language.classes.mangles_private and is_mangled(ground.name)
    own = mangled and ground.subject.owner is not None
    for one in references(ground.world, ground.store, bounds, receivers=False, resolver=ground.resolver):
        ground.looked_at.add(one.path)
        if _belongs(ground, bounds, one):
            # Inside a class its own name is that of whatever stands before it.
            certain = own or (one.side != "" and one.side == ground.side)
            found.append(structs.replace(one, tier="STRONG") if certain and one.tier == "ANCHORED" else one)
        if ground.late("references were followed"):
            break
        if len(found) > ground.most:
            raise InvalidArgument(
                f"{ground.name} is used in more than {ground.most} places, and a plan may have no more",
                hint="replace it by text, folder by folder",
                details={"limit": ground.most},
            )
    if ground.subject.loose:
        found = list(_loose(ground, found))
    spelling = Spelling(ground.world, ground.resolver, bounds)
    if spelling.doubtful(dict.fromkeys(one.path for one in found)):
        found = [one for one in found if one.tier not in SURE or spelling.is_own(one.path, one.offset)]
    edits = [
        edit
        for path, among in groupby(found, key=lambda one: one.path)
        for edit in _file_edits(ground, bounds, path, among)
    ]
    edits += _other_imports(ground, bounds, edits)
    return edits


def _belongs(ground: Ground, bounds: Sequence[Bound], one: Reference) -> bool:
    facts = ground.world.facts(one.path)
    assert facts is not None
    subject = ground.subject
    if one.role == "DEFINITION":
        defined = ground.resolver.defined_at(one.path, facts, one.offset)
        mine = subject.definition
        if defined is not None and _is_other(ground, side_of(facts, ground.world.text(one.path), defined)):
            return False
        # Methods that name their receiver share a scope with those of other receivers.
        if defined is not None and mine is not None and one.path == subject.bound.file and len(bounds) == 1:
            return defined.path == mine.path or bool(facts.rows(bounds[0].scope, bounds[0].name))
        return True
    if _is_other(ground, one.side):
        return False
    rules = LANGUAGES[facts.language]
    if subject.name in rules.names.builtin_types and one.tier in SURE:
        # A type that the language has, not a name that somebody gave.
        node = ground.syntax.node(one.path, one.offset, one.offset + ground.length)
        return node is not None and "identifier" in node.type and node.type != "type_identifier"
    if not rules.classes.mangles_private:
        return True
    if one.offset in facts.labels:
        kind = subject.definition.kind if subject.definition is not None else ""
        return kind not in ("method", "class")
    if subject.owner is not None and is_mangled(subject.name):
        around = ground.resolver.enclosing_class(one.path, facts, one.offset)
        return around is not None and any(_body_of(ground, around) == (of.file, of.scope) for of in bounds)
    return True


def _is_other(ground: Ground, side: Side) -> bool:
    """Whether a member is static and the subject is not, or the other way round: then they are two."""
    return side != "" and ground.side not in ("", side)


def _loose(ground: Ground, found: Sequence[Reference]) -> Iterator[Reference]:
    """Of a member of an object without a name its own place is sure; members of that name are proposed."""
    path, own = ground.subject.bound.file, ground.subject.at
    text = ground.world.text(path)
    members = {one for one in occurrences(text, ground.name) if text[one - 1 : one] == b"."}
    yield Reference(path=path, offset=own, tier="PROVEN", role="DEFINITION", receiver="")
    for offset in sorted(members):
        yield Reference(path=path, offset=offset, tier="ANCHORED", role="REFERENCE", receiver="")
    for one in found:
        if one.path != path and ground.world.text(one.path)[one.offset - 1 : one.offset] == b".":
            yield structs.replace(one, tier="ANCHORED")


def _body_of(ground: Ground, of: Bound) -> tuple[str, int] | None:
    facts = ground.world.facts(of.file)
    for index, _ in ground.resolver.definitions(of):
        if facts is not None and index in facts.body_of:
            return of.file, facts.body_of[index]
    return None


def _file_edits(ground: Ground, bounds: Sequence[Bound], path: str, among: Iterable[Reference]) -> Iterator[Edit]:
    facts, text, length = ground.world.facts(path), ground.world.text(path), ground.length
    assert facts is not None
    rules = LANGUAGES[facts.language].names
    plain = not rules.shorthand_properties and not rules.shorthand_fields
    for one in among:
        if plain and one.offset not in facts.imported_at:
            end = one.offset + length
            yield Edit(
                path=path,
                start=one.offset,
                end=end,
                new=ground.new,
                tier=one.tier,
                role=one.role,
                why=_why(ground, one, text),
                likely=one.likely,
            )
        else:
            yield from _edits(ground, bounds, one, facts, text)


def _why(ground: Ground, one: Reference, text: bytes) -> str:
    """Why a place is, or may be, a reference."""
    subject = ground.subject
    if one.tier != "ANCHORED" or subject.sort == "member" or text.endswith(_ACCESS, 0, one.offset):
        return _WHY[one.tier]
    kind = subject.definition.kind if subject.definition is not None else "name"
    return f"the same name; whether it is this {kind} is not certain"


def _edits(ground: Ground, bounds: Sequence[Bound], one: Reference, facts: Facts, text: bytes) -> Iterator[Edit]:
    start, end = one.offset, one.offset + ground.length
    new, why = ground.new, _why(ground, one, text)
    index = facts.imported_at.get(start)
    short = is_shorthand(ground.syntax, facts, text, one.path, start, end)
    language = LANGUAGES[facts.language]
    if index is not None:
        imported = facts.imports[index]
        ours = set(ground.resolver.imported(one.path, facts, imported)) & set(bounds)
        if not ours and one.tier in SURE:
            if imported.alias and start == imported.imported_at != imported.local_at:
                return
            if not imported.alias:
                written = under_new_name(language, imported, ground.name, new, short=short)
                if written is None:
                    return
                new, why = written, "another thing under the same name"
    elif language.names.shorthand_fields and (begin := _short_field(ground, one.path, start, end)) >= 0:
        # `mut` and `ref` belong to the variable.
        marks = text[begin:start].decode("utf-8", "replace")
        by_member = ground.subject.sort == "member"
        new = f"{new}: {marks}{ground.name}" if by_member else f"{ground.name}: {marks}{new}"
        start = begin
    elif short and not _passed_on(facts, start):
        # A property and a variable at once: the one that is not renamed keeps its name.
        by_member = ground.subject.sort == "member"
        new = f"{new}: {ground.name}" if by_member else f"{ground.name}: {new}"
    yield Edit(path=one.path, start=start, end=end, new=new, tier=one.tier, role=one.role, why=why, likely=one.likely)


def _short_field(ground: Ground, path: str, start: int, end: int) -> int:
    """Where what is a field and a variable of Rust at once begins, in a literal or pattern; -1 where it is not both."""
    node = ground.syntax.node(path, start, end)
    parent = node.parent if node is not None else None
    if node is None or parent is None:
        return -1
    if node.type == "shorthand_field_identifier":
        return parent.start_byte if parent.type == "field_pattern" else start
    return start if parent.type == "shorthand_field_initializer" else -1


def _passed_on(facts: Facts, offset: int) -> bool:
    return any(one.at == offset for one in facts.exports)


def _other_imports(ground: Ground, bounds: Sequence[Bound], edits: Sequence[Edit]) -> Iterator[Edit]:
    """Imports of something else that share a binding with one that is renamed: a fallback keeps working."""
    done = {(edit.path, edit.start) for edit in edits}
    homes = dict.fromkeys(
        Bound(edit.path, facts.imports[index].scope, ground.name)
        for edit in edits
        if edit.tier in SURE
        and (facts := ground.world.facts(edit.path)) is not None
        and (index := facts.imported_at.get(edit.start)) is not None
        and facts.imports[index].local == ground.name
    )
    for home in homes:
        if home in bounds:
            continue
        facts, text = ground.world.facts(home.file), ground.world.text(home.file)
        assert facts is not None
        for row in facts.rows(home.scope, home.name):
            if facts.bind_reason(row) != _IMPORT:
                continue
            one = facts.imports[facts.bind_target(row)]
            start, end = one.local_at, one.local_at + ground.length
            if (home.file, start) in done or text[start:end] != ground.name.encode():
                continue
            short = is_shorthand(ground.syntax, facts, text, home.file, start, end)
            written = under_new_name(LANGUAGES[facts.language], one, ground.name, ground.new, short=short)
            new = ground.new if one.alias else written
            if new is None:
                continue
            yield Edit(
                path=home.file,
                start=start,
                end=end,
                new=new,
                tier="STRONG",
                role="IMPORT",
                why="another thing under the same name",
            )


def careful(ground: Ground, edit: Edit) -> Edit:
    """What is in a file that somebody else writes is proposed; a stub follows its module."""
    if edit.tier not in SURE:
        return edit
    if ground.is_made(edit.path):
        why = "in a file that is built, generated or brought along"
        return replace(edit, tier="ANCHORED", why=why, likely=not is_copy(edit.path))
    if edit.path != ground.subject.bound.file and ground.is_module_as_well:
        return replace(edit, tier="ANCHORED", why="the package has a module of that name, which this may be")
    if edit.path.endswith(".pyi") and edit.path not in {one.file for one in ground.subject.bounds}:
        return replace(edit, tier="ANCHORED", why="a stub of another module says what its own module gives")
    if edit.tier == "PROVEN" and edit.path.endswith(".pyi") and edit.path != ground.subject.bound.file:
        return replace(edit, tier="STRONG", why="the stub of the module")
    return edit
