"""Members that may override each other in languages whose bases are not followed from file to file.

Bases are compared by their names alone, so what is found is proposed and never applied automatically.
"""

import re
from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.references import references
from codeplane.refactor.draft import Danger, Edit
from codeplane.refactor.rename.rename_context import RenameContext

_MAX_DEFINERS = 2_000
_MAX_NAMES = 500
_MAX_HEAD = 300
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_SHARED = frozenset({"field", "function", "method", "property", "variable"})
_OVERRIDES = re.compile(rb"@Override\b|\boverride\b")
_WHY = "a member of that name in a type that may share it by inheritance"


def relative_edits(context: RenameContext) -> Iterator[Edit]:
    """Yield an uncertain edit for every use of a member that may override the subject, or be overridden by it."""
    known = context.relatives
    bounds = list(known.possible) if known is not None else sharing_members(context)
    for reference in references(context.world, context.store, bounds, receivers=False) if bounds else ():
        yield Edit(
            path=reference.path,
            start=reference.offset,
            end=reference.offset + context.length,
            new=context.new,
            tier="ANCHORED",
            role=reference.role,
            why=_WHY,
        )


def sharing_members(context: RenameContext) -> list[Bound]:
    """Return the members that may override the subject, or be overridden by it."""
    return list(dict.fromkeys(_relatives(context)))


def foreign_bases(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for a member that overrides one of a type outside the repository."""
    definition, known = context.subject.definition, context.relatives
    if definition is None or not (_applies(context) or (known is not None and known.outside)):
        return
    text = context.world.text(context.subject.bound.file)
    danger = ""
    if known is not None and known.outside:
        danger = f"{definition.name} belongs to {known.outside}, which is not here"
    elif (
        known is None
        and context.subject.language.bare_members
        and _OVERRIDES.search(text, definition.start, _head_end(text, definition))
        and not any(True for _ in _relatives(context))
    ):
        danger = f"{definition.name} overrides a member of a type that is not here"
    elif known is None and (asking := _unmarked_base(context)):
        danger = f"{definition.name} may belong to {asking}, which is not here"
    if danger:
        yield Danger(kind="outside_base", what=danger, path=context.subject.bound.file, offset=definition.name_at)


def _unmarked_base(context: RenameContext) -> str:
    """Return a base that is not here and may ask for the subject, where members that implement others do not say so."""
    subject, definition = context.subject, context.subject.definition
    if definition is None or not subject.language.classes.unmarked_overrides or definition.kind not in _SHARED:
        return ""
    head = context.world.text(subject.bound.file)[definition.start : definition.name_at].split()
    if {b"private", b"fileprivate", b"static"} & set(head):
        return ""
    owner = _owner_name(definition)
    for name in sorted(_closure(context, {owner}, up=True) - {owner}):
        if name[:1].isupper() and not context.store.find_symbols(name, limit=1):
            return name
    return ""


def _applies(context: RenameContext) -> bool:
    """Whether the subject is a member in a language whose bases are not resolved."""
    subject, definition = context.subject, context.subject.definition
    owned = subject.sort == "member" or (
        subject.sort == "top" and definition is not None and definition.kind == "method"
    )
    return owned and not subject.language.names.follows_imports


def _relatives(context: RenameContext) -> Iterator[Bound]:
    subject, mine = context.subject, context.subject.definition
    if mine is None or not _applies(context):
        return
    own = _owner_name(mine)
    rules = subject.language.classes
    names = frozenset[str]() if rules.implicit_interfaces else _kin(context, own)
    listed = context.store.find_symbols(subject.name, limit=_MAX_DEFINERS)
    for symbol in listed:
        known = context.world.snapshot.files.get(symbol.file)
        facts = context.world.facts(symbol.file) if known is not None and known.digest == symbol.digest else None
        if facts is None or symbol.position >= len(facts.definitions):
            continue
        if context.world.language(facts).group != subject.language.group:
            continue
        other = facts.definitions[symbol.position]
        bound = Bound(symbol.file, other.scope, other.name)
        if bound in subject.bounds or not _owner_name(other):
            continue
        if _may_share(subject.facts, mine, facts, other) or _owner_name(other) in names - {own}:
            yield bound


def _may_share(mine_in: Facts, mine: Definition, facts: Facts, other: Definition) -> bool:
    """Whether two methods may be one of an interface that their types do not name."""
    if not LANGUAGES[facts.language].classes.implicit_interfaces:
        return False
    return "interface" in (_owner_kind(mine_in, mine), _owner_kind(facts, other))


def _owner_name(definition: Definition) -> str:
    return definition.path.rpartition(".")[0].rpartition(".")[2]


def _owner_kind(facts: Facts, definition: Definition) -> str:
    return facts.definitions[definition.container].kind if definition.container >= 0 else ""


def _head_end(text: bytes, definition: Definition) -> int:
    """Return where the head of a definition ends."""
    ends = [
        at
        for at in (text.find(mark, definition.name_at, definition.name_at + _MAX_HEAD) for mark in (b"{", b";", b"="))
        if at >= 0
    ]
    return min(ends, default=definition.name_at)


def _kin(context: RenameContext, own: str) -> frozenset[str]:
    """Return the names of a type's bases, and of all types derived from it or from one of them."""
    above = _closure(context, {own}, up=True)
    return _closure(context, above, up=False)


def _base_words(text: bytes, definition: Definition) -> set[str]:
    """Return the names between the first base of a type and its body."""
    assert definition.bases is not None
    start, end = definition.bases
    body = text.find(b"{", end, definition.end)
    head = text[start : body if body >= 0 else max(end, text.find(b"\n", end))]
    return {word[0].decode("utf-8", "replace") for word in _WORD.finditer(head)}


def _extension_words(text: bytes, name: str) -> set[str]:
    """Return what extensions of a type say that it implements."""
    found = re.finditer(rb"\bextension\s+%s\s*:([^{]*)\{" % re.escape(name.encode()), text)
    return {word[0].decode("utf-8", "replace") for match in found for word in _WORD.finditer(match[1])}


def _extended_types(text: bytes, name: str) -> set[str]:
    """Return the types that extensions say implement one."""
    found = re.finditer(rb"\bextension\s+([\w.]+)\s*:([^{]*)\{", text)
    wanted = name.encode()
    return {
        match[1].decode("utf-8", "replace").rpartition(".")[2]
        for match in found
        if any(word[0] == wanted for word in _WORD.finditer(match[2]))
    }


def _mixin_names(text: bytes, definition: Definition, words: tuple[str, ...]) -> set[str]:
    """Return the names of modules and traits that a class takes members from."""
    if not words or definition.kind not in ("class", "enum", "module", "trait"):
        return set()
    pattern = re.compile(rb"^\s*(?:%s)\b[ (]+([A-Z\\][\w\\:, ]*)" % "|".join(words).encode(), re.MULTILINE)
    listed = (match[1] for match in pattern.finditer(text, definition.start, definition.end))
    return {word[0].decode("utf-8", "replace") for some in listed for word in _WORD.finditer(some)}


def _closure(context: RenameContext, first: frozenset[str] | set[str], *, up: bool) -> frozenset[str]:
    found, waiting = set(first), list(first)
    while waiting and len(found) < _MAX_NAMES:
        name = waiting.pop()
        for path, facts in context.files(name) if name else ():
            text = context.world.text(path)
            rules = context.subject.language.classes
            if rules.unmarked_overrides:
                more = (_extension_words(text, name) if up else _extended_types(text, name)) - found
                waiting += sorted(more)
                found |= more
            for definition in facts.definitions:
                words = _mixin_names(text, definition, rules.mixin_words)
                if definition.bases is not None:
                    words |= _base_words(text, definition)
                if not words:
                    continue
                new = (
                    words
                    if up and definition.name == name
                    else {definition.name}
                    if not up and name in words
                    else set()
                )
                waiting += sorted(new - found)
                found |= new
    return frozenset(found)
