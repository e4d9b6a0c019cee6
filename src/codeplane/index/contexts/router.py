"""The router from files to the contexts that own them."""

from collections.abc import Iterable

from codeplane.index.contexts.candidate import Context, fallback
from codeplane.index.contexts.family import families_of, family_of
from codeplane.index.contexts.membership import Territory
from codeplane.kernel.errors import IndexNotReady


class Router:
    """Maps files to contexts; answers only once every candidate is resolved."""

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
        """The valid context that owns a file for a family, or None."""
        self._must_be_ready()
        return self._owner(path.rpartition("/")[0], family) if family in families_of(path) else None

    def claims_on(self, path: str) -> list[Context]:
        """The deepest context around a file for each of its families, valid or not."""
        folder = path.rpartition("/")[0]
        roots = ((family, self._territory.root_of(folder, family)) for family in families_of(path))
        return [self._by_root[family, root] for family, root in roots if root is not None]

    def home_of(self, path: str) -> Context:
        """The context a file's facts are stored under: its owner, or its family's fallback."""
        self._must_be_ready()
        family = family_of(path)
        owner = self._owner(path.rpartition("/")[0], family) if family else None
        return owner or fallback(family)

    def assign(self, paths: Iterable[str]) -> dict[str, str]:
        """The home context's id of every path; each folder is looked up once."""
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
        """The valid context at the deepest root; an invalid root still excludes its files from outer contexts."""
        root = self._territory.root_of(folder, family)
        context = None if root is None else self._by_root[family, root]
        return context if context is not None and context.status == "valid" else None

    def _must_be_ready(self) -> None:
        if self._pending:
            raise IndexNotReady(f"{self._pending} contexts are not probed yet")
