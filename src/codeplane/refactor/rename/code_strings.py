"""Dangers of code in strings, and of scopes read as mappings: their meaning is known only at run time."""

import re
from collections.abc import Iterator

from codeplane.code.languages.expression import closing_bracket
from codeplane.code.model import Facts
from codeplane.refactor.draft import Danger
from codeplane.refactor.rename.rename_context import RenameContext

_MAPPED = re.compile(rb"\b(locals|globals|vars)\(\s*\)")
_RUN = re.compile(rb"\b(?:eval|exec)\s*(?=\()")
_STRING = re.compile(rb"""[rRbBuUfF]{0,2}["']""")
_FAR = 4_000


def code_string_dangers(context: RenameContext) -> Iterator[Danger]:
    """Calls of `eval`, `exec` and `locals()` that can see the subject: with its name, or with text made at run time."""
    if not context.subject.language.names.evaluates_text:
        return
    for path, facts in context.files(context.name):
        text = context.world.text(path)
        runs = [access.at for access in facts.dynamic if access.pattern == "eval"]
        runs = [at for at in runs if _sees(context, path, facts, at) and _RUN.match(text, at)]
        made = 0
        for at in runs:
            opened = text.find(b"(", at)
            closed = closing_bracket(text, opened, most=_FAR)
            argument = text[opened + 1 : closed if closed is not None else opened + _FAR]
            if re.search(rb"\b%s\b" % re.escape(context.name.encode()), argument):
                what = f"{context.name} is in code that is kept as text"
                yield Danger(kind="dynamic_access", what=what, path=path, offset=at)
            elif not _STRING.match(argument.lstrip()):
                made += 1
        if made:
            what = f"code whose text is made when it runs may say {context.name}"
            yield Danger(kind="computed_access", what=what, path=path, offset=runs[0], count=made)
        yield from _mapping_dangers(context, path, facts, text)


def _mapping_dangers(context: RenameContext, path: str, facts: Facts, text: bytes) -> Iterator[Danger]:
    """Yield a danger where a scope is read as a mapping, in which names are keys."""
    subject = context.subject
    if subject.sort == "member":
        return
    for match in _MAPPED.finditer(text):
        inside = facts.scope_at(match.start())
        outer = match[1] == b"globals" or inside == 0
        of_mine = path == subject.bound.file and (subject.bound.scope == 0 if outer else inside == subject.bound.scope)
        if of_mine and not facts.in_text(match.start()):
            what = f"{match[1].decode()}() gives {context.name} by its name"
            yield Danger(kind="computed_access", what=what, path=path, offset=match.start())
            return


def _sees(context: RenameContext, path: str, facts: Facts, at: int) -> bool:
    """Whether a place can see the subject by its plain name, or any member by that of its owner."""
    subject = context.subject
    if subject.sort == "member":
        return True
    meaning = context.resolver.at(path, at, context.name)
    own = context.resolver.lexical(path, facts, at, context.name)
    return own in subject.bounds or any(entity in subject.bounds for entity in meaning.entities)
