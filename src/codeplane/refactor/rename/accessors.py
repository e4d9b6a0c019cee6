"""Accessors that are declared by the names of variables, such as `attr_reader :name`, which reads `@name`."""

from collections.abc import Iterator

from codeplane.code.resolve.occurrences import occurrences
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.rename_context import RenameContext

_PREFIXES = ("get", "set", "is")
_CALLED = "an accessor of the property, as other languages call it"
_VARIABLE = "the variable that an accessor of that name reads"
_ACCESSOR = "an accessor of that name reads the variable"


def accessor_edits(context: RenameContext) -> Iterator[Edit]:
    """Yield a proposal for the variable of an accessor that is renamed, or for the accessor of a variable."""
    definition, sign = context.subject.definition, context.subject.language.names.private_sign
    if definition is not None and definition.kind == "field" and context.subject.language.names.property_accessors:
        yield from _property_edits(context)
    if definition is None or not context.subject.language.names.symbols or not sign:
        return
    plain, new = context.name.lstrip(sign), context.new.lstrip(sign)
    is_accessor = definition.kind == "accessor"
    if not is_accessor and plain == context.name:
        return
    for path, facts in context.files(plain):
        text = context.world.text(path)
        places = occurrences(text, plain)
        if is_accessor:
            found = [at for at in places if text[at - 1 : at] == sign.encode() and not facts.in_text(at)]
        else:
            found = [
                accessor.name_at
                for accessor in facts.definitions
                if accessor.kind == "accessor" and accessor.name == plain
            ]
        for at in found:
            end, why = at + len(plain.encode()), _VARIABLE if is_accessor else _ACCESSOR
            yield Edit(path=path, start=at, end=end, new=new, tier="ANCHORED", role="REFERENCE", why=why)


def accessor_names(name: str) -> list[str]:
    """Return the names by which other languages of its family reach a property."""
    stem = name[2:] if name.startswith("is") and name[2:3].isupper() else name
    return [f"{prefix}{stem[:1].upper()}{stem[1:]}" for prefix in _PREFIXES if f"{prefix}{stem}" != name]


def _property_edits(context: RenameContext) -> Iterator[Edit]:
    for old, new in zip(accessor_names(context.name), accessor_names(context.new), strict=False):
        for path, facts in context.files(old):
            text = context.world.text(path)
            for at in occurrences(text, old):
                if not facts.in_text(at) and facts.language != context.subject.facts.language:
                    end = at + len(old.encode())
                    yield Edit(path=path, start=at, end=end, new=new, tier="ANCHORED", role="REFERENCE", why=_CALLED)
