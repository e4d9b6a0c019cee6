"""Edits of the references to a symbol."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from msgspec import structs

from codeplane.code.entity import Bound, Side
from codeplane.code.languages.member_side import side_of
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.references import Reference, references
from codeplane.code.resolve.tier import SURE
from codeplane.index.path_kinds import is_copy
from codeplane.kernel.errors import InvalidArgument
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.keyword_arguments import is_other_field
from codeplane.refactor.rename.new_name import is_mangled
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.shorthand import import_under_new_name, is_shorthand
from codeplane.refactor.rename.spelling import Spelling

_IMPORT = REASONS.index("IMPORT_ALIAS")
_WHY = {
    "PROVEN": "bound in this file",
    "STRONG": "followed through imports, or through a receiver whose class is written",
    "ANCHORED": "a member of that name; what it is a member of is not certain",
    "UNKNOWN": "the same name; nothing says what it means",
}
# Operators before the name of a member.
_ACCESS = (b".", b"->", b"::")


def reference_edits(context: RenameContext, bounds: Sequence[Bound]) -> list[Edit]:
    """Return an edit for every place that is or may be a reference to one of these bindings."""
    found: list[Reference] = []
    mangled = context.subject.language.classes.mangles_private and is_mangled(context.name)
    own = mangled and context.subject.owner is not None
    for reference in references(context.world, context.store, bounds, receivers=False, resolver=context.resolver):
        context.looked_at.add(reference.path)
        if _belongs(context, bounds, reference):
            # Inside a class, its private name is its own whatever the receiver.
            certain = own or (reference.side in ("static", "instance") and reference.side == context.side)
            found.append(
                structs.replace(reference, tier="STRONG") if certain and reference.tier == "ANCHORED" else reference
            )
        if context.is_late("references were followed"):
            break
        if len(found) > context.most:
            raise InvalidArgument(
                f"{context.name} is used in more than {context.most} places, and a plan may have no more",
                hint="replace it by text, folder by folder",
                details={"limit": context.most},
            )
    if context.subject.loose:
        found = list(_object_member_references(context, found))
    spelling = Spelling(context.world, context.resolver, bounds)
    if spelling.doubtful(dict.fromkeys(reference.path for reference in found)):
        found = [
            reference
            for reference in found
            if reference.tier not in SURE or spelling.is_own(reference.path, reference.offset)
        ]
    edits = [
        edit
        for path, among in groupby(found, key=lambda reference: reference.path)
        for edit in _file_edits(context, bounds, path, among)
    ]
    edits += _other_imports(context, bounds, edits)
    return edits


def _belongs(context: RenameContext, bounds: Sequence[Bound], reference: Reference) -> bool:
    facts = context.world.facts(reference.path)
    assert facts is not None
    subject = context.subject
    if reference.role == "DEFINITION":
        defined = context.resolver.definition_at(reference.path, facts, reference.offset)
        mine = subject.definition
        if defined is not None and _is_other(context, side_of(facts, context.world.text(reference.path), defined)):
            return False
        # Methods that name their receiver share a scope with methods of other receivers.
        if defined is not None and mine is not None and reference.path == subject.bound.file and len(bounds) == 1:
            return defined.path == mine.path or bool(facts.rows(bounds[0].scope, bounds[0].name))
        return True
    if _is_other(context, reference.side):
        return False
    rules = LANGUAGES[facts.language]
    if subject.name in rules.names.builtin_types and reference.tier in SURE:
        # A builtin type of the language, not a name in the program.
        node = context.syntax.node(reference.path, reference.offset, reference.offset + context.length)
        return node is not None and "identifier" in node.type and node.type != "type_identifier"
    if not rules.classes.mangles_private:
        return True
    if reference.offset in facts.labels:
        kind = subject.definition.kind if subject.definition is not None else ""
        return kind not in ("method", "class") and not is_other_field(context, reference.path, facts, reference.offset)
    if subject.owner is not None and is_mangled(subject.name):
        around = context.resolver.enclosing_class(reference.path, facts, reference.offset)
        return around is not None and any(_body_of(context, around) == (of.file, of.scope) for of in bounds)
    return True


def _is_other(context: RenameContext, side: Side) -> bool:
    """Whether one of a member and the subject is static and the other is not."""
    return side != "" and context.side not in ("", side)


def _object_member_references(context: RenameContext, found: Sequence[Reference]) -> Iterator[Reference]:
    """Yield references of a member of an unnamed object: its own place is certain, other members are proposed."""
    path, own = context.subject.bound.file, context.subject.at
    text = context.world.text(path)
    members = {offset for offset in occurrences(text, context.name) if text[offset - 1 : offset] == b"."}
    yield Reference(path=path, offset=own, tier="PROVEN", role="DEFINITION", receiver="")
    for offset in sorted(members):
        yield Reference(path=path, offset=offset, tier="ANCHORED", role="REFERENCE", receiver="")
    for reference in found:
        if (
            reference.path != path
            and context.world.text(reference.path)[reference.offset - 1 : reference.offset] == b"."
        ):
            yield structs.replace(reference, tier="ANCHORED")


def _body_of(context: RenameContext, of: Bound) -> tuple[str, int] | None:
    facts = context.world.facts(of.file)
    for index, _ in context.resolver.definitions(of):
        if facts is not None and index in facts.body_of:
            return of.file, facts.body_of[index]
    return None


def _file_edits(
    context: RenameContext, bounds: Sequence[Bound], path: str, among: Iterable[Reference]
) -> Iterator[Edit]:
    facts, text, length = context.world.facts(path), context.world.text(path), context.length
    assert facts is not None
    rules = LANGUAGES[facts.language].names
    plain = not rules.shorthand_properties and not rules.shorthand_fields
    for reference in among:
        if plain and reference.offset not in facts.imported_at:
            end = reference.offset + length
            yield Edit(
                path=path,
                start=reference.offset,
                end=end,
                new=context.new,
                tier=reference.tier,
                role=reference.role,
                why=_why(context, reference, text),
                likely=reference.likely,
            )
        else:
            yield from _edits(context, bounds, reference, facts, text)


def _why(context: RenameContext, reference: Reference, text: bytes) -> str:
    """Say why a place is or may be a reference."""
    subject = context.subject
    if reference.tier != "ANCHORED" or subject.sort == "member" or text.endswith(_ACCESS, 0, reference.offset):
        return _WHY[reference.tier]
    kind = subject.definition.kind if subject.definition is not None else "name"
    return f"the same name; whether it is this {kind} is not certain"


def _edits(
    context: RenameContext, bounds: Sequence[Bound], reference: Reference, facts: Facts, text: bytes
) -> Iterator[Edit]:
    start, end = reference.offset, reference.offset + context.length
    new, why = context.new, _why(context, reference, text)
    index = facts.imported_at.get(start)
    short = is_shorthand(context.syntax, facts, text, reference.path, start, end)
    language = LANGUAGES[facts.language]
    if index is not None:
        imported = facts.imports[index]
        ours = set(context.resolver.resolve_import(reference.path, facts, imported)) & set(bounds)
        if not ours and reference.tier in SURE:
            if imported.alias and start == imported.imported_at != imported.local_at:
                return
            if not imported.alias:
                written = import_under_new_name(language, imported, context.name, new, short=short)
                if written is None:
                    return
                new, why = written, "another thing under the same name"
    elif language.names.shorthand_fields and (begin := _short_field(context, reference.path, start, end)) >= 0:
        # `mut` and `ref` go with the variable.
        marks = text[begin:start].decode("utf-8", "replace")
        by_member = context.subject.sort == "member"
        new = f"{new}: {marks}{context.name}" if by_member else f"{context.name}: {marks}{new}"
        start = begin
    elif short and not _is_reexport(facts, start):
        # Both a property and a variable: the other one keeps its name.
        by_member = context.subject.sort == "member"
        new = f"{new}: {context.name}" if by_member else f"{context.name}: {new}"
    yield Edit(
        path=reference.path,
        start=start,
        end=end,
        new=new,
        tier=reference.tier,
        role=reference.role,
        why=why,
        likely=reference.likely,
    )


def _short_field(context: RenameContext, path: str, start: int, end: int) -> int:
    """Return where a Rust shorthand of field and variable begins, in a literal or pattern; -1 if it is none."""
    node = context.syntax.node(path, start, end)
    parent = node.parent if node is not None else None
    if node is None or parent is None:
        return -1
    if node.type == "shorthand_field_identifier":
        return parent.start_byte if parent.type == "field_pattern" else start
    return start if parent.type == "shorthand_field_initializer" else -1


def _is_reexport(facts: Facts, offset: int) -> bool:
    return any(export.at == offset for export in facts.exports)


def _other_imports(context: RenameContext, bounds: Sequence[Bound], edits: Sequence[Edit]) -> Iterator[Edit]:
    """Yield edits of other imports that bind the same name as a renamed one, such as a fallback."""
    done = {(edit.path, edit.start) for edit in edits}
    homes = dict.fromkeys(
        Bound(edit.path, facts.imports[index].scope, context.name)
        for edit in edits
        if edit.tier in SURE
        and (facts := context.world.facts(edit.path)) is not None
        and (index := facts.imported_at.get(edit.start)) is not None
        and facts.imports[index].local == context.name
    )
    for home in homes:
        if home in bounds:
            continue
        facts, text = context.world.facts(home.file), context.world.text(home.file)
        assert facts is not None
        for row in facts.rows(home.scope, home.name):
            if facts.bind_reason(row) != _IMPORT:
                continue
            import_ = facts.imports[facts.bind_target(row)]
            start, end = import_.local_at, import_.local_at + context.length
            if (home.file, start) in done or text[start:end] != context.name.encode():
                continue
            short = is_shorthand(context.syntax, facts, text, home.file, start, end)
            written = import_under_new_name(LANGUAGES[facts.language], import_, context.name, context.new, short=short)
            new = context.new if import_.alias else written
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


def downgrade_uncertain(context: RenameContext, edit: Edit) -> Edit:
    """Only propose an edit in a generated or vendored file; a stub follows its module."""
    if edit.tier not in SURE:
        return edit
    if context.is_made(edit.path):
        why = "in a file that is built, generated or brought along"
        return replace(edit, tier="ANCHORED", why=why, likely=not is_copy(edit.path))
    if edit.path != context.subject.bound.file and context.is_module_as_well:
        return replace(edit, tier="ANCHORED", why="the package has a module of that name, which this may be")
    if edit.path.endswith(".pyi") and edit.path not in {bound.file for bound in context.subject.bounds}:
        return replace(edit, tier="ANCHORED", why="a stub of another module says what its own module gives")
    if edit.tier == "PROVEN" and edit.path.endswith(".pyi") and edit.path != context.subject.bound.file:
        return replace(edit, tier="STRONG", why="the stub of the module")
    return edit
