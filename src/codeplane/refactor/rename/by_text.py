"""Code in strings, and names taken as a mapping: what they mean is found out when they run."""

import re
from collections.abc import Iterator

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.expression import closing
from codeplane.refactor.draft import Danger
from codeplane.refactor.rename.ground import Ground

_MAPPED = re.compile(rb"\b(locals|globals|vars)\(\s*\)")
_RUN = re.compile(rb"\b(?:eval|exec)\s*(?=\()")
_STRING = re.compile(rb"""[rRbBuUfF]{0,2}["']""")
_FAR = 4_000


def code_in_text(ground: Ground) -> Iterator[Danger]:
    """`eval`, `exec` and `locals()` that can see the subject: those that say its name, and those whose text is made."""
    if not ground.subject.language.names.evaluates_text:
        return
    for path, facts in ground.files(ground.name):
        text = ground.world.text(path)
        runs = [one.at for one in facts.dynamic if one.pattern == "eval"]
        runs = [at for at in runs if _sees(ground, path, facts, at) and _RUN.match(text, at)]
        made = 0
        for at in runs:
            opened = text.find(b"(", at)
            closed = closing(text, opened, most=_FAR)
            said = text[opened + 1 : closed if closed is not None else opened + _FAR]
            if re.search(rb"\b%s\b" % re.escape(ground.name.encode()), said):
                what = f"{ground.name} is in code that is kept as text"
                yield Danger(kind="dynamic_access", what=what, path=path, offset=at)
            elif not _STRING.match(said.lstrip()):
                made += 1
        if made:
            what = f"code whose text is made when it runs may say {ground.name}"
            yield Danger(kind="computed_access", what=what, path=path, offset=runs[0], count=made)
        yield from _mapped(ground, path, facts, text)


def _mapped(ground: Ground, path: str, facts: Facts, text: bytes) -> Iterator[Danger]:
    """Names of a scope that are taken as a mapping, in which they are keys."""
    subject = ground.subject
    if subject.sort == "member":
        return
    for one in _MAPPED.finditer(text):
        inside = facts.scope_at(one.start())
        outer = one[1] == b"globals" or inside == 0
        of_mine = path == subject.bound.file and (subject.bound.scope == 0 if outer else inside == subject.bound.scope)
        if of_mine and not facts.in_text(one.start()):
            what = f"{one[1].decode()}() gives {ground.name} by its name"
            yield Danger(kind="computed_access", what=what, path=path, offset=one.start())
            return


def _sees(ground: Ground, path: str, facts: Facts, at: int) -> bool:
    """Whether a place can see the subject by its plain name, or any member by that of its owner."""
    subject = ground.subject
    if subject.sort == "member":
        return True
    meaning = ground.resolver.at(path, at, ground.name)
    own = ground.resolver.lexical(path, facts, at, ground.name)
    return own in subject.bounds or any(one in subject.bounds for one in meaning.entities)
