"""Definitions that are handed on where they are defined: by a decorator, or to a base that learns of its subclasses."""

import re
from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.refactor.rename.rename_context import RenameContext

_HARMLESS = re.compile(
    rb"^\s*@(?:[\w.]+\.)?(?:property|staticmethod|classmethod|overload|override|abstractmethod|cached_property|wraps|"
    rb"cache|lru_cache|contextmanager|asynccontextmanager|final|dataclass|setter|getter|deleter|deprecated)\b"
)
_META = re.compile(rb"\bmetaclass\s*=")
_LEARNS = "__init_subclass__"


def telling_decorators(above: bytes) -> list[str]:
    """Return the decorators that may hand on what they decorate, or its names."""
    lines = [line.strip() for line in above.splitlines() if not _HARMLESS.match(line)]
    return [line[:60].decode("utf-8", "replace") for line in lines if line.startswith(b"@")]


def registering_bases(context: RenameContext, of: Bound) -> Iterator[Bound]:
    """Yield the bases of a class that learn of the classes which build on them."""
    for base in context.resolver.line_of(of)[0][1:]:
        facts = context.world.facts(base.file)
        for index, definition in context.resolver.definitions(base) if facts is not None else ():
            assert facts is not None
            text, body = context.world.text(base.file), facts.body_of.get(index, -1)
            learns = any(each.scope == body and each.name == _LEARNS for each in facts.definitions)
            if learns or (definition.bases is not None and _META.search(text, *definition.bases)):
                yield base
