"""A definition before its scope, container and path are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tree_sitter

from codeplane.code.facts.captures import Captures

_NO_CONTAINERS = frozenset({"function", "method", "field", "variable", "constant", "enum_member"})

PlacedScope = tuple[int, int, str, int, int]
"""Where a scope starts and ends, its kind, the draft it belongs to or -1, and the scope around it."""


@dataclass(slots=True)
class Draft:
    """What is known of a definition before all scopes are; a variable has no captures."""

    kind: str
    name: str
    start: int
    end: int
    name_at: int
    name_end: int
    captures: Captures
    node: tree_sitter.Node | None = None
    scope: int = 0

    @classmethod
    def variable(cls, node: tree_sitter.Node, name: str, scope: int) -> "Draft":
        """What an assignment makes where variables are definitions."""
        whole = node.parent or node
        return cls(
            kind="constant" if name.isupper() else "variable",
            name=name,
            start=min(whole.start_byte, node.start_byte),
            end=whole.end_byte,
            name_at=node.start_byte,
            name_end=node.end_byte,
            captures={},
            scope=scope,
        )


class Homes:
    """The container and path of each definition, asked in the order of their text."""

    def __init__(
        self,
        drafts: Sequence[Draft],
        scopes: Sequence[PlacedScope],
        scope_names: Mapping[tuple[int, int], str],
        receivers: Mapping[int, str],
    ) -> None:
        self._drafts = drafts
        self._scopes = scopes
        self._scope_names = scope_names
        self._receivers = receivers
        self._paths: dict[int, str] = {}
        self._known: dict[int, tuple[int, str]] = {0: (-1, "")}
        self._types: dict[str, int] = {}
        if scope_names or receivers:
            # Of two with one name neither is the container.
            for index, draft in enumerate(drafts):
                if draft.kind not in _NO_CONTAINERS:
                    self._types[draft.name] = -1 if draft.name in self._types else index

    def of(self, index: int) -> tuple[int, str, str]:
        """The draft a definition is inside of or belongs to, or -1, the path of what it is inside of, and its own."""
        draft = self._drafts[index]
        container, within = self._of_scope(draft.scope)
        if receiver := self._receivers.get(index):
            container = self._types.get(receiver, container)
            within = f"{within}.{receiver}" if within else receiver
        path = self._paths[index] = f"{within}.{draft.name}" if within else draft.name
        return container, within, path

    def _of_scope(self, scope: int) -> tuple[int, str]:
        chain = []
        while (home := self._known.get(scope)) is None:
            chain.append(scope)
            definition = self._scopes[scope][3]
            if definition >= 0 and definition in self._paths:
                home = (definition, self._paths[definition])
                break
            scope = self._scopes[scope][4]
        for inner in reversed(chain):
            start, end, _, definition, _ = self._scopes[inner]
            if name := self._scope_names.get((start, end)):
                home = (self._types.get(name, home[0]), f"{home[1]}.{name}" if home[1] else name)
            self._known[inner] = home
        return home
