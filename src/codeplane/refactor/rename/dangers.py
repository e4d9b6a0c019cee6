"""Dangers of a rename: access at run time, broken files, uses outside the repository."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.python.evidence import decorators, is_property
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.tier import SURE
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy, is_test
from codeplane.refactor.computed_names import computed_name_dangers
from codeplane.refactor.draft import Danger, Edit
from codeplane.refactor.registration import registering_bases, telling_decorators
from codeplane.refactor.rename.code_strings import code_string_dangers
from codeplane.refactor.rename.family import Family, related_members
from codeplane.refactor.rename.new_name import is_dunder, is_mangled
from codeplane.refactor.rename.relatives import foreign_bases
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.subject import is_fixture

_KEYED = frozenset({"getattr", "bracket_access"})
_MOST = 20
_SAID = re.compile(rb"\b(interface|type|const|let|var|function|class|enum)\s+$")
_SELF = re.compile(rb"\bself\s*\.\s*$")
_SET = re.compile(rb"[ \t]*(?::[^=\n]+)?=(?!=)")
_QUOTE = re.compile(rb"[A-Za-z]{0,3}#*[\"'`]")


def dangers_of(context: RenameContext, family: Family, edits: Sequence[Edit]) -> Iterator[Danger]:
    """Yield all dangers of a rename."""
    yield from _at_run_time(context, edits)
    yield from computed_name_dangers(context)
    yield from code_string_dangers(context)
    yield from _assigned_method_dangers(context)
    yield from _type_and_value_dangers(context)
    written = list(_in_strings(context, edits))
    yield from written
    if written:
        yield from _registered_dangers(context)
    yield from _stars(context)
    yield from _public(context)
    yield from _private(context)
    yield from _outside(context, family)
    yield from _protocols(context, family)
    yield from foreign_bases(context)
    yield from _decorator_dangers(context)
    yield from _parameters(context)
    copies = [edit for edit in edits if is_copy(edit.path)]
    if copies:
        what = "uses in files that are built or brought along are proposed, not applied"
        yield Danger(kind="copies", what=what, path=copies[0].path, offset=copies[0].start, count=len(copies))


def unparsed_files(context: RenameContext) -> tuple[str, ...]:
    """Return the files that contain the name and have partial facts or none."""
    name, found = context.name.encode(), []
    for path in context.store.problems():
        known = context.world.snapshot.files.get(path)
        if known is None or known.skipped is not None:
            continue
        if name in context.world.text(path) and context.places(path, context.name):
            found.append(path)
    found += [path for path in context.world.missing if path not in found]
    return tuple(sorted(found))


def _at_run_time(context: RenameContext, edits: Sequence[Edit]) -> Iterator[Danger]:
    """Yield accesses by a string: those with this name, and computed ones in files that use it."""
    if context.subject.sort in ("parameter", "local"):
        return
    computed: list[tuple[str, int]] = []
    spoken = {edit.path for edit in edits if edit.tier in SURE}
    for path, facts in context.files(context.name):
        for access in facts.dynamic:
            if access.literal == context.name:
                what = f"{context.name} is reached by its text ({access.pattern})"
                yield Danger(kind="dynamic_access", what=what, path=path, offset=access.at)
            elif (
                access.literal is None
                and access.pattern in _KEYED
                and path in spoken
                and context.subject.sort == "member"
            ):
                computed.append((path, access.at))
    if computed:
        path, at = computed[0]
        what = "members are reached by computed names in files that use it"
        yield Danger(kind="computed_access", what=what, path=path, offset=at, count=len(computed))


def _assigned_method_dangers(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for a Python method that instances also assign: both are renamed."""
    subject = context.subject
    if not subject.language.classes.rebindable or subject.sort != "member":
        return
    text = context.world.text(subject.bound.file)
    found = [definition for _, definition in context.resolver.definitions(subject.bound)]
    if not found or found[0].kind not in ("method", "function") or is_property(text, found[0]):
        return
    for at in context.places(subject.bound.file, subject.name):
        if _SELF.search(text, max(0, at - 20), at) and _SET.match(text, at + context.length):
            around = context.resolver.enclosing_class(subject.bound.file, subject.facts, at)
            if around == subject.owner and not subject.facts.in_text(at):
                what = f"{subject.name} is a method, and something else that instances are given; both are renamed"
                yield Danger(kind="two_members", what=what, path=subject.bound.file, offset=at)
                return


def _type_and_value_dangers(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for a TypeScript type and value of one name, which are imported together: both are renamed."""
    subject = context.subject
    if subject.sort != "top" or not subject.language.names.types_and_values:
        return
    facts, text = subject.facts, context.world.text(subject.bound.file)
    rows = facts.rows(0, subject.name)
    keywords = {_SAID.search(text, max(0, at - 40), at) for at in (facts.bind_at(row) for row in rows)}
    words = {match[1] for match in keywords if match is not None}
    if words & {b"interface", b"type"} and words & {b"const", b"let", b"var", b"function"}:
        what = f"{subject.name} is a type and a value; both are renamed"
        yield Danger(kind="type_and_value", what=what, path=subject.bound.file, offset=subject.at)


def _in_strings(context: RenameContext, edits: Sequence[Edit]) -> Iterator[Danger]:
    done = {(edit.path, edit.start) for edit in edits}
    first: tuple[str, int] | None = None
    written: list[tuple[str, int]] = []
    count = beside = 0
    for path, facts in context.files(context.name):
        text = context.world.text(path)
        for at in context.places(path, context.name):
            if not facts.in_text(at) or (path, at) in done:
                continue
            quotes = text[at - 1 : at], text[at + context.length : at + context.length + 1]
            if quotes[0] == quotes[1] and quotes[0] in (b'"', b"'", b"`"):
                count += 1
                first = first or (path, at)
            elif text[at + context.length : at + context.length + 1] == b"(" and _is_string(facts, text, at):
                written.append((path, at))
            elif LANGUAGES[facts.language].embedded:
                beside += 1
        if beside:
            what = f"the markup of {path_text(path)} may use it"
            yield Danger(kind="markup", what=what, path=path, count=beside)
            beside = 0
    if first is not None:
        what = f"strings that are {context.name!r} and nothing else are left alone"
        yield Danger(kind="in_strings", what=what, path=first[0], offset=first[1], count=count)
    if written:
        path, at = written[0]
        what = f"strings that have code with {context.name}( are left alone"
        yield Danger(kind="in_strings", what=what, path=path, offset=at, count=len(written))


def _is_string(facts: Facts, text: bytes, at: int) -> bool:
    """Whether a place is in a string of a program; strings of several lines are documents or templates."""
    start, end = facts.text_span(at)
    return _QUOTE.match(text, start) is not None and b"\n" not in text[start:end]


def _stars(context: RenameContext) -> Iterator[Danger]:
    """Yield files that use the name unresolved, and import everything from a module that is not here."""
    if context.subject.sort != "top" or not context.subject.language.names.binds_stars:
        return
    for path, facts in context.files(context.name):
        if not facts.star or path == context.subject.bound.file:
            continue
        loose = [at for at in context.places(path, context.name) if not facts.in_text(at) and at not in facts.labels]
        unseen = [
            import_
            for import_ in facts.imports
            if import_.imported == "*" and not context.world.python().find(import_.source, path)
        ]
        for at in loose[:1] if unseen else ():
            if not context.resolver.at(path, at, context.name).entities:
                what = f"{path_text(path)} takes everything from {unseen[0].source}, which is not here"
                yield Danger(kind="star_import", what=what, path=path, offset=at)


def _public(context: RenameContext) -> Iterator[Danger]:
    subject = context.subject
    if subject.sort not in ("top", "member") or subject.name.startswith(("_", "#")) or is_test(subject.bound.file):
        return
    if subject.language.contract.visible == "capital" and not subject.name[:1].isupper():
        return
    if subject.language.contract.visible == "pub" and not _is_pub(context):
        return
    if subject.language.contract.visible == "modifier" and not _is_public_by_modifier(context):
        return
    facts = subject.facts
    given = any(export.local == subject.name or export.name == subject.name for export in facts.exports)
    owner = subject.owner
    if owner is not None:
        given = any(owner.name in (export.local, export.name) for export in facts.exports)
    implicit = subject.language.implicit_exports and not (owner is not None and owner.name.startswith("_"))
    if given or implicit or not subject.language.names.follows_imports:
        yield Danger(
            kind="public_api",
            what=f"{subject.name} can be used from outside this repository",
            path=subject.bound.file,
            offset=subject.at,
        )


def _is_pub(context: RenameContext) -> bool:
    """Whether a definition that says `pub` itself, or is a part of one that does, is in a library."""
    subject, path, files = context.subject, context.subject.bound.file, context.world.snapshot.files
    is_program = subject.language.contract.is_program
    if is_program is not None and is_program(
        path, files, lambda file: context.world.text(file) if file in files else None
    ):
        return False
    definition, text = subject.definition, context.world.text(path)
    while definition is not None and (definition.kind == "enum_member" or _is_of_trait(context, definition)):
        definition = subject.facts.definitions[definition.container] if definition.container >= 0 else None
    head = text[definition.start : definition.name_at].split() if definition is not None else [b"pub"]
    return b"pub" in head


def _is_of_trait(context: RenameContext, definition: Definition) -> bool:
    owner = context.subject.facts.definitions[definition.container] if definition.container >= 0 else None
    return owner is not None and owner.kind == "trait"


def _is_public_by_modifier(context: RenameContext) -> bool:
    """Whether what stands before a definition, or its absence, lets others use it."""
    subject, definition = context.subject, context.subject.definition
    if definition is None:
        return True
    words = {
        word.decode("ascii", "replace")
        for word in context.world.text(subject.bound.file)[definition.start : definition.name_at].split()
    }
    if words & {"public", "protected"}:
        return True
    if words & {"private", "internal"}:
        return False
    owner = subject.facts.definitions[definition.container].kind if definition.container >= 0 else ""
    contract = subject.language.contract
    return owner in ("annotation", "interface") or (contract.member if owner else contract.top) == "public"


def _private(context: RenameContext) -> Iterator[Danger]:
    language = context.subject.language
    if not language.classes.mangles_private or context.subject.sort not in ("member", "top"):
        return
    if is_dunder(context.new):
        yield Danger(kind="dunder", what=f"{language.title} may look for {context.new} itself")
    elif context.subject.sort == "member" and is_mangled(context.new):
        yield Danger(
            kind="name_mangling", what=f"{context.new} is the class's own: subclasses and others do not see it"
        )
    elif context.subject.sort == "member" and is_mangled(context.name):
        yield Danger(kind="name_mangling", what=f"{context.name} was the class's own; {context.new} can be overridden")


def _outside(context: RenameContext, family: Family) -> Iterator[Danger]:
    for owner in family.outside[:_MOST]:
        facts = context.world.facts(owner.file)
        definition = next((definition for _, definition in context.resolver.definitions(owner)), None)
        if facts is not None and definition is not None:
            what = f"{owner.name} builds on a class that is not here: if that one has {context.name}, this overrides it"
            yield Danger(kind="outside_base", what=what, path=owner.file, offset=definition.name_at)


def _protocols(context: RenameContext, family: Family) -> Iterator[Danger]:
    """Yield a danger for a protocol of one field: whether a class with that field is used as one is not known."""
    if not family.unproven:
        return
    protocol, of = family.unproven[0]
    other = protocol if of in family.owners else of
    definition = next((definition for _, definition in context.resolver.definitions(other)), None)
    yield Danger(
        kind="structural_protocol",
        what=f"{of.name} has the {context.name} that {protocol.name} asks for: {other.name} keeps the old name",
        path=other.file,
        offset=definition.name_at if definition is not None else None,
        count=len(family.unproven),
    )


def _registered_dangers(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for what may be reached by its name where it was registered, while strings say that name."""
    bound, decorates = context.subject.bound, context.subject.language.contract.decorators
    for _, definition in context.resolver.definitions(bound) if context.subject.sort == "top" and decorates else ():
        lines = telling_decorators(decorators(context.world.text(bound.file), definition))
        bases = list(registering_bases(context, bound)) if definition.kind == "class" else []
        if lines or bases:
            what = f"{lines[0] if lines else bases[0].name} may know it by its name, which is also in strings"
            yield Danger(kind="registered", what=what, path=bound.file, offset=definition.name_at)
            return


def _decorator_dangers(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for decorators, which may pass on the name of a function or of its parameters."""
    subject = context.subject
    of = subject.function if subject.sort == "parameter" else subject.bound
    if of is None or not subject.language.contract.decorators:
        return
    for _, definition in context.resolver.definitions(of):
        lines = telling_decorators(decorators(context.world.text(of.file), definition))
        if lines and definition.kind in ("function", "method"):
            fixture = is_fixture(context.world, of.file, definition)
            decorator = lines[0]
            yield Danger(
                kind="fixture" if fixture else "decorated",
                what=f"tests ask for it by the name {definition.name}" if fixture else f"{decorator} may use its names",
                path=of.file,
                offset=definition.name_at,
            )
            return


def _parameters(context: RenameContext) -> Iterator[Danger]:
    """Yield the overriding methods whose parameter keeps the old name."""
    subject = context.subject
    function = subject.function
    if function is None or subject.facts.scopes[function.scope].kind not in ("class", "interface"):
        return
    of = subject.facts.scopes[function.scope].definition
    if of < 0 or is_dunder(function.name):
        return
    owner = Bound(function.file, subject.facts.definitions[of].scope, subject.facts.definitions[of].name)
    others = [member for member in related_members(context, owner, function.name) if member != function]
    for relative in others[:_MOST]:
        facts = context.world.facts(relative.file)
        index = facts.definitions_by_binding.get((relative.scope, relative.name), [-1])[0] if facts is not None else -1
        body = facts.body_of.get(index, -1) if facts is not None else -1
        if facts is not None and body >= 0 and facts.rows_by_binding.get((body, subject.name)):
            what = f"{function.name} is overridden or overrides: its parameter {subject.name} is not renamed here"
            yield Danger(
                kind="overriding_parameter", what=what, path=relative.file, offset=facts.definitions[index].name_at
            )
