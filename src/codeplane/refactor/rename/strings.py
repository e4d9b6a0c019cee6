"""Names in strings that code reads: quoted annotations, `__all__`, type comments, slots, names for run time."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound, Entity
from codeplane.code.model import Facts
from codeplane.code.resolve.tier import Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.keyword_arguments import is_called_with_mapping
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.spelling import Spelling


def slot_tier(
    context: RenameContext, bounds: Sequence[Bound], path: str, facts: Facts, text: bytes, at: int
) -> Tier | None:
    """Return how certain a quoted name is an entry of `__slots__` or `__match_args__` for one of these members."""
    end = at + context.length
    if text[at - 1 : at] not in (b'"', b"'") or text[end : end + 1] != text[at - 1 : at]:
        return None
    scope = facts.scope_at(at)
    if facts.scopes[scope].kind != "class":
        return None
    listed = [
        facts.definitions[index]
        for name in _ATTRIBUTE_LISTS
        for index in facts.definitions_by_binding.get((scope, name), ())
    ]
    around = next((definition for definition in listed if definition.start <= at < definition.end), None)
    of = facts.scopes[scope].definition
    if around is None or of < 0:
        return None
    before = text[text.find(b"=", around.name_at) + 1 : at]
    # An argument of a call, or the value of an entry, may be anything.
    plain = not _CALLED.search(before) and not _VALUE.search(before)
    if any(bound.file == path and bound.scope == scope for bound in bounds):
        return "STRONG" if plain else "UNKNOWN"
    owner = Bound(path, facts.definitions[of].scope, facts.definitions[of].name)
    mine = context.subject.owner
    if mine is None:
        return None
    related = mine in context.resolver.line_of(owner)[0] or owner in context.resolver.line_of(mine)[0]
    return "ANCHORED" if related and plain else None


_ATTRIBUTE_LISTS = ("__slots__", "__match_args__")
_CALLED = re.compile(rb"[\w\x80-\xff\])][ \t]*[(\[]")
_VALUE = re.compile(rb"[\"'][ \t]*:[ \t]*[\"']$")
_TYPE_COMMENT = re.compile(rb"#\s*type:\s*(?!ignore\b)")
_DOTTED = re.compile(rb"[A-Za-z_][\w.]*$")
_PLAIN = re.compile(rb"[\w.\[\], |\"'\s]*$")
_QUOTES = b"\"'`"
_LITERAL = frozenset({b"Literal", b"Annotated"})
_GENERICS = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})
_TYPING = frozenset({"typing", "typing_extensions", "collections.abc", "collections"})
_ACCESS = 400
_MAX_DOTTED = 200
_SPELLED = "spells the whole dotted path"
_PATH_ALONE = re.compile(rb"[A-Za-z]{0,2}([\"'])[\w.:]+\1")
# The name of a member is an argument of these, and of functions that replace it for a while.
_BY_NAME = re.compile(
    rb"\b(?:attrgetter|methodcaller|hasattr|setattr|delattr|patch\.object|monkeypatch\.(?:set|del)attr)\s*"
    rb"\((?:[^()]*,)?\s*$"
)
_GIVES_NAMES = "__getattr__"
_CASTS = re.compile(rb"\b(?:cast|TypeVar|NewType|ForwardRef)\s*\(\s*(?:[^()]*?[=,]\s*)?$")


def string_edits(context: RenameContext, bounds: Sequence[Bound]) -> Iterator[Edit]:
    """Yield an edit for every place in a string that is or may be a use of the name."""
    if not context.subject.language.names.names_in_strings or context.subject.sort == "local":
        return
    spelling = Spelling(context.world, context.resolver, bounds)
    for path, facts in context.files(context.name):
        text = context.world.text(path)
        listed = {export.at for export in facts.exports if export.evidence == "all" and export.name == context.name}
        reached = _dynamic_uses(facts, context.name)
        for at in context.places(path, context.name):
            if not facts.in_text(at):
                continue
            tier, role, why = _judge(context, spelling, bounds, path, facts, text, at, listed, reached)
            if tier is not None:
                yield Edit(
                    path=path,
                    start=at,
                    end=at + context.length,
                    new=context.new,
                    tier=tier,
                    role="EXPORT" if role == "EXPORT" else "STRING",
                    why=why,
                    # A sentence may mention it; a string that is nothing but its path is read by a program.
                    likely=why != _SPELLED or _PATH_ALONE.match(text, _span(facts, at)[0]) is not None,
                )
        if context.is_late("names in strings were read"):
            return


def _judge(
    context: RenameContext,
    spelling: Spelling,
    bounds: Sequence[Bound],
    path: str,
    facts: Facts,
    text: bytes,
    at: int,
    listed: set[int],
    reached: Sequence[int],
) -> tuple[Tier | None, str, str]:
    if at in listed:
        return (*_of_all(context, spelling, bounds, path, facts), "listed in __all__")
    start, end = _span(facts, at)
    if _TYPE_COMMENT.match(text, start):
        found = _means_symbol(context, spelling, bounds, path, at)
        return ("STRONG" if found else None), "STRING", "in a type comment"
    if text[start : start + 1] == b"#":
        return None, "", ""
    if context.subject.sort == "member" and (slot := slot_tier(context, bounds, path, facts, text, at)) is not None:
        return slot, "STRING", "an attribute that its class lists"
    named = _stands_as_type(text, start) and _means_symbol(context, spelling, bounds, path, at)
    # Only a name that would mean the symbol is worth parsing.
    if named and _is_annotation(context, path, text, at):
        inside = text[start:end]
        plain = b"\\" not in inside and _PLAIN.match(inside) is not None
        return ("STRONG" if plain else "UNKNOWN"), "STRING", "an annotation in quotes"
    alone = text[at - 1 : at] in (b'"', b"'") and text[at + context.length : at + context.length + 1] in (b'"', b"'")
    if alone and any(call < at < call + _ACCESS for call in reached):
        return "UNKNOWN", "STRING", "reached by its name at run time"
    if alone and context.subject.sort in ("top", "member") and _BY_NAME.search(text, max(0, start - 200), start):
        return "UNKNOWN", "STRING", "reached by its name at run time"
    if alone and context.subject.sort == "top" and _may_be_given(bounds, path, facts, text):
        return "UNKNOWN", "STRING", "the module may give it by this name"
    if alone and context.subject.sort == "parameter" and is_called_with_mapping(context, path):
        return "UNKNOWN", "STRING", "may be given as an argument with **"
    if alone and named and _CASTS.search(text, max(0, start - 120), start):
        return "UNKNOWN", "STRING", "a type in quotes"
    if _contains_dotted_path(context, bounds, path, text, at):
        return "UNKNOWN", "STRING", _SPELLED
    return None, "", ""


def _may_be_given(bounds: Sequence[Bound], path: str, facts: Facts, text: bytes) -> bool:
    """Whether a module gives names by a `__getattr__` of its own, and may give that of one of these definitions."""
    folder = f"{path.rpartition('/')[0]}/".lstrip("/")
    if not any(bound.file == path or bound.file.startswith(folder) for bound in bounds):
        return False
    own = any(definition.name == _GIVES_NAMES and definition.container < 0 for definition in facts.definitions)
    return own or (_GIVES_NAMES.encode() in text and (0, _GIVES_NAMES) in facts.rows_by_binding)


def _of_all(
    context: RenameContext, spelling: Spelling, bounds: Sequence[Bound], path: str, facts: Facts
) -> tuple[Tier | None, str]:
    given = context.resolver.export(path, context.name)
    if not any(entity in bounds for entity in given):
        return None, ""
    if not spelling.gives(path):
        return None, ""
    return ("STRONG" if len(given) == 1 else "UNKNOWN"), "EXPORT"


def _dynamic_uses(facts: Facts, name: str) -> list[int]:
    return [access.at for access in facts.dynamic if access.literal == name and access.pattern == "getattr"]


def _span(facts: Facts, at: int) -> tuple[int, int]:
    return facts.text_span(at)


def _means_symbol(context: RenameContext, spelling: Spelling, bounds: Sequence[Bound], path: str, at: int) -> bool:
    """Whether the name would mean the symbol if the string were code."""
    meaning = context.resolver.at(path, at, context.name)
    return meaning.certain and any(entity in bounds for entity in meaning.entities) and spelling.is_own(path, at)


def _stands_as_type(text: bytes, start: int) -> bool:
    """Whether a string can be a type by what precedes it; on the line after a colon it is a docstring."""
    before = text[max(0, start - 200) : start]
    plain = before.rstrip()
    if plain.endswith(b":"):
        return b"\n" not in before[len(plain) :]
    return plain.endswith((b"->", b"[", b",", b"|", b"=", b"("))


def _is_annotation(context: RenameContext, path: str, text: bytes, at: int) -> bool:
    """Whether a string is in an annotation, and not a value inside of a type."""
    node = context.syntax.node(path, at, at + context.length)
    typed = False
    while node is not None and node.type not in ("block", "module", "call"):
        if node.type in ("generic_type", "subscript"):
            head = text[node.start_byte : node.end_byte].partition(b"[")[0].strip()
            if head.rpartition(b".")[2] in _LITERAL:
                return False
            typed = typed or (node.type == "subscript" and _is_generic(context, path, head.decode("utf-8", "replace")))
        typed = typed or node.type == "type"
        node = node.parent
    return typed


def _is_generic(context: RenameContext, path: str, head: str) -> bool:
    """Whether the name before brackets makes their content a type: `list`, or a name of a typing module."""
    if head in _GENERICS:
        return True
    first, _, rest = head.partition(".")
    facts = context.world.facts(path)
    return facts is not None and any(
        import_.local == first and (import_.source if not rest or not import_.imported else "") in _TYPING
        for import_ in facts.imports
    )


def _contains_dotted_path(context: RenameContext, bounds: Sequence[Bound], path: str, text: bytes, at: int) -> bool:
    """Whether a string contains the dotted path of the symbol."""
    if text[at - 1 : at] not in (b".", b":"):
        return False
    dotted = _DOTTED.search(text, max(0, at - _MAX_DOTTED), at - 1)
    if dotted is None:
        return False
    parts = dotted[0].decode("utf-8", "replace").split(".")
    for cut in range(len(parts), 0, -1):
        for module in context.world.python().find(".".join(parts[:cut]), path):
            found: list[Entity] = []
            names = [*parts[cut:], context.name]
            found += context.resolver.export(module, names[0])
            for name in names[1:]:
                owners = [entity for entity in found if isinstance(entity, Bound)]
                found = [
                    named_member
                    for owner in owners
                    if (named_member := context.resolver.member(owner, name)[0]) is not None
                ]
            if any(entity in bounds for entity in found):
                return True
    return False
