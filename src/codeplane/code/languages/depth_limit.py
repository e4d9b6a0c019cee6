"""A limit on how deep a reader of syntax asks itself, as code may be nested without bounds."""

from collections.abc import Callable
from typing import TypeVar

import tree_sitter

Found = TypeVar("Found")


class DepthLimit:
    """Counts how deep a reader is, and lets it find nothing beyond a depth."""

    def __init__(self, most: int = 40) -> None:
        self._most = most
        self._depth = 0

    def read(
        self, reader: Callable[[str, tree_sitter.Node], Found | None], path: str, node: tree_sitter.Node | None
    ) -> Found | None:
        """Return what a reader finds for a node of a file; None without a node, and too deep."""
        if node is None or self._depth > self._most:
            return None
        self._depth += 1
        try:
            return reader(path, node)
        finally:
            self._depth -= 1
