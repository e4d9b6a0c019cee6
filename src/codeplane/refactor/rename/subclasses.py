"""The classes that build on a class."""

from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.refactor.rename.rename_context import RenameContext

_MAX_HEIRS = 2_000


def subclasses(context: RenameContext, of: Bound) -> Iterator[Bound]:
    """Yield the classes that have a class among their bases, directly or through others."""
    seen, waiting, looked_at = {of}, [of], 0
    while waiting:
        parent = waiting.pop()
        name = parent.name.encode()
        for path, facts in context.files(parent.name):
            text = context.world.text(path)
            for definition in facts.definitions:
                if definition.bases is None or definition.kind != "class" or text.find(name, *definition.bases) < 0:
                    continue
                looked_at += 1
                if looked_at > _MAX_HEIRS or context.is_late("subclasses were looked for"):
                    return
                heir = Bound(path, definition.scope, definition.name)
                if heir not in seen and of in context.resolver.line_of(heir)[0]:
                    seen.add(heir)
                    waiting.append(heir)
                    yield heir
