"""Uses of a definition that no reference shows: its name in strings, protocols, decorators, classes that register."""

from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.code.languages.python.evidence import decorators
from codeplane.code.resolve.references import Reference
from codeplane.refactor.computed_names import computed_name_dangers
from codeplane.refactor.draft import Danger
from codeplane.refactor.registration import registering_bases, telling_decorators
from codeplane.refactor.rename.doctests import doctest_edits
from codeplane.refactor.rename.family import family_of
from codeplane.refactor.rename.module_keys import module_key_edits
from codeplane.refactor.rename.protocols import Protocols
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.strings import string_edits


def uses_in_strings(context: RenameContext) -> Iterator[Reference]:
    """Yield the strings that are read as the name: annotations in quotes, paths, doctests, names for run time."""
    bounds = context.subject.bounds
    for edit in (*string_edits(context, bounds), *doctest_edits(context, bounds)):
        if edit.role == "STRING" and edit.likely:
            yield Reference(path=edit.path, offset=edit.start, tier=edit.tier, role="REFERENCE", receiver="")
    for edit in module_key_edits(context, bounds, ()):
        yield Reference(path=edit.path, offset=edit.start, tier=edit.tier, role="REFERENCE", receiver="")
    if context.subject.sort in ("top", "member"):
        for path, facts in context.files(context.name):
            for access in facts.dynamic:
                if access.literal == context.name:
                    yield Reference(path=path, offset=access.at, tier="UNKNOWN", role="REFERENCE", receiver="")


def asking_protocols(context: RenameContext) -> Iterator[Bound]:
    """Yield the members of protocols that ask for the subject, without being bases of its class."""
    owner = context.subject.owner
    if owner is None or context.subject.sort != "member":
        return
    family, protocols = family_of(context), Protocols(context)
    if protocols.is_protocol(owner):
        return
    asking = {of for of in family.owners if protocols.is_protocol(of)}
    asking |= {of for pair in family.unproven if owner in pair for of in pair if of != owner}
    for of in asking:
        member, _ = context.resolver.member(of, context.name)
        if member is not None:
            yield member


def hidden_use_dangers(context: RenameContext) -> Iterator[Danger]:
    """Yield a danger for each way in which something that is nowhere named may use the subject."""
    subject = context.subject
    bound, definition = subject.bound, subject.definition
    if definition is None:
        return
    text = context.world.text(bound.file)
    above = decorators(text, definition) + text[definition.start : definition.name_at]
    for decorator in telling_decorators(above):
        yield Danger(
            kind="registered", what=f"{decorator} may have handed it on", path=bound.file, offset=definition.name_at
        )
        break
    yield from computed_name_dangers(context)
    owner = bound if definition.kind == "class" else subject.owner
    if owner is None:
        return
    _, is_whole = context.resolver.line_of(owner)
    if definition.kind == "class":
        for base in registering_bases(context, owner):
            what = f"{base.name} learns of the classes that build on it"
            yield Danger(kind="registered", what=what, path=bound.file, offset=definition.name_at)
            return
    elif not is_whole and subject.sort == "member":
        what = f"{owner.name} builds on a class that is not here: if that one has {context.name}, it may be called"
        yield Danger(kind="outside_base", what=what, path=bound.file, offset=definition.name_at)
