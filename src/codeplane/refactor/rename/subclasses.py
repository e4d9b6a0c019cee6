"""The classes that build on a class."""

from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.refactor.rename.rename_context import RenameContext

_MAX_HEIRS = 2_000


def subclasses(context: RenameContext, of: Bound) -> Iterator[Bound]:
    """Yield the classes that have a class among their bases."""
    seen = 0
    name = of.name.encode()
    for path, facts in context.files(of.name):
        text = context.world.text(path)
        for definition in facts.definitions:
            if definition.bases is None or definition.kind != "class" or text.find(name, *definition.bases) < 0:
                continue
            seen += 1
            if seen > _MAX_HEIRS or context.late("subclasses were looked for"):
                return
            heir = Bound(path, definition.scope, definition.name)
            if of in context.resolver.line_of(heir)[0]:
                yield heir
