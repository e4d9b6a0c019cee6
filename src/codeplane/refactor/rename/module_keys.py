"""Uses of what modules, classes and enums have by a quoted key, and of what a dynamic `import()` may hand on."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.entity import Bound, Entity, Module
from codeplane.code.model import Facts
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.rename_context import RenameContext
from codeplane.refactor.rename.shorthand import is_shorthand

_LOADED = re.compile(rb"\bimport\s*\(\s*[\"'`]([^\"'`\n]+)[\"'`]")
_KEYED = re.compile(rb"([\w$]+)\s*(?:\?\.)?\s*\[\s*[\"']$")
_REACH = 200


def module_key_edits(context: RenameContext, bounds: Sequence[Bound], done: Sequence[Edit]) -> Iterator[Edit]:
    """Yield quoted keys that are the symbol, and places that a loaded module may give it to."""
    if not context.subject.language.names.aliases_exports or context.subject.sort not in ("top", "member"):
        return
    known = {(edit.path, edit.start) for edit in done if edit.likely}
    for path, facts in context.files(context.name):
        text = context.world.text(path)
        loaded = context.subject.sort == "top" and _loads(context, bounds, path, facts, text)
        for at in context.places(path, context.name):
            if (path, at) in known:
                continue
            end, new = at + context.length, context.new
            if facts.in_text(at):
                keyed = _KEYED.search(text, max(0, at - _REACH), at)
                if keyed is None or text[end : end + 1] != text[at - 1 : at]:
                    continue
                held = context.resolver.at(path, keyed.start(1), keyed[1].decode("utf-8", "replace"))
                if held.certain and any(_has(context, entity, bounds) for entity in held.entities):
                    yield Edit(path=path, start=at, end=end, new=new, tier="STRONG", role="STRING", why="a quoted key")
                continue
            member = text[at - 1 : at] == b"."
            if loaded and (member or context.resolver.lexical(path, facts, at, context.name) is None):
                yield Edit(
                    path=path,
                    start=at,
                    end=end,
                    new=new,
                    tier="ANCHORED",
                    role="REFERENCE",
                    why="import() may hand it on here",
                )
            elif loaded and is_shorthand(context.syntax, facts, text, path, at, end):
                yield Edit(
                    path=path,
                    start=at,
                    end=end,
                    new=f"{new}: {context.name}",
                    tier="ANCHORED",
                    role="REFERENCE",
                    why="import() may hand it on here",
                )


def _has(context: RenameContext, entity: Entity, bounds: Sequence[Bound]) -> bool:
    """Whether something has the symbol as a member."""
    if isinstance(entity, Module):
        return any(found in bounds for found in context.resolver.export(entity.path, context.name))
    return isinstance(entity, Bound) and context.resolver.member(entity, context.name)[0] in bounds


def _loads(context: RenameContext, bounds: Sequence[Bound], path: str, facts: Facts, text: bytes) -> bool:
    """Whether a file loads a module by `import()` that gives the symbol."""
    modules = context.world.modules(facts)
    return modules is not None and any(
        _has(context, Module(module), bounds)
        for source in {found[1].decode("utf-8", "replace") for found in _LOADED.finditer(text)}
        for module in modules.find(source, path)
    )
