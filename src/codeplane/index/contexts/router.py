"""Which context a file belongs to: the one answer for everything that is stored or asked per context."""

from collections.abc import Iterable

from codeplane.index.contexts.candidate import Context, fallback
from codeplane.index.contexts.family import families_of, family_of
from codeplane.index.contexts.membership import Territory
from codeplane.kernel.errors import IndexNotReady


class Router:
    """Answers only once every candidate is resolved; before that, an answer could change under its reader."""

    def __init__(self, contexts: Iterable[Context]) -> None:
        listed = list(contexts)
        self._pending = sum(context.status == "pending" for context in listed)
        self._by_root = {(context.family, context.root): context for context in listed}
        self._territory = Territory((context.family, context.root) for context in listed if context.family)

    @property
    def is_ready(self) -> bool:
        """Whether every candidate is resolved."""
        return self._pending == 0

    def context_of(self, path: str, family: str) -> Context | None:
        """The one valid context that owns a file for a family; None where nobody does."""
        self._must_be_ready()
        return self._owner(path.rpartition("/")[0], family) if family in families_of(path) else None

    def claims_on(self, path: str) -> list[Context]:
        """The deepest context around a file for each of its families, whatever became of it."""
        folder = path.rpartition("/")[0]
        found = ((family, self._territory.root_of(folder, family)) for family in families_of(path))
        return [self._by_root[family, root] for family, root in found if root is not None]

    def home_of(self, path: str) -> Context:
        """The context a file's facts are kept under: its owner, else the fallback of its family."""
        self._must_be_ready()
        family = family_of(path)
        owner = self._owner(path.rpartition("/")[0], family) if family else None
        return owner or fallback(family)

    def assign(self, paths: Iterable[str]) -> dict[str, str]:
        """For every path the id of its home; folders are decided once, files by their name alone."""
        self._must_be_ready()
        homes: dict[tuple[str | None, str], str] = {}
        assigned: dict[str, str] = {}
        for path in paths:
            family = family_of(path)
            folder = path.rpartition("/")[0] if family else ""
            home = homes.get((family, folder))
            if home is None:
                owner = self._owner(folder, family) if family else None
                home = homes[family, folder] = (owner or fallback(family)).id
            assigned[path] = home
        return assigned

    def _owner(self, folder: str, family: str) -> Context | None:
        """The deepest root decides even when it is not valid: it has punched itself out of those around it."""
        root = self._territory.root_of(folder, family)
        context = None if root is None else self._by_root[family, root]
        return context if context is not None and context.status == "valid" else None

    def _must_be_ready(self) -> None:
        if self._pending:
            raise IndexNotReady(f"{self._pending} contexts are not probed yet")
