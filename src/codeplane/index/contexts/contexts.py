"""All contexts of one repository, found, probed and ready to be asked."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from codeplane.index.contexts.candidate import Context
from codeplane.index.contexts.choice import Choices, Defaults
from codeplane.index.contexts.contexts_file import NAME, ContextsFile
from codeplane.index.contexts.discovery import Read, discover, is_marker
from codeplane.index.contexts.probe import Parse, order_of, probed
from codeplane.index.contexts.router import Router
from codeplane.kernel.errors import CodePlaneError


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """One discovery's outcome; `problem` says why contexts.yaml was not heeded or not written."""

    all: tuple[Context, ...]
    router: Router
    defaults: Defaults
    problem: CodePlaneError | None = None

    @classmethod
    def discover(cls, paths: Iterable[str], read: Read, parse: Parse, file: ContextsFile | None = None) -> "Contexts":
        """Find, filter and probe every context; a broken contexts.yaml stops nothing, is said, and stays as it is."""
        listed = list(paths)
        choices, problem = Choices(), None
        if file is not None:
            try:
                choices = file.load()
            except CodePlaneError as error:
                problem = error
        contexts = probed(choices.applied(discover(listed, read)), listed, read, parse)
        if file is not None and problem is None:
            try:
                file.write(contexts)
            except CodePlaneError as error:
                problem = error
        return cls(all=contexts, router=Router(contexts), defaults=choices.defaults, problem=problem)

    def valid(self, family: str | None = None) -> tuple[Context, ...]:
        """The contexts that own files, of one family or of all."""
        return tuple(each for each in self.all if each.status == "valid" and family in (None, each.family))

    def mode_of(self, family: str) -> Literal["none", "single", "multiple"]:
        """Whether answers for a family come from one context or have to agree between several."""
        count = len(self.valid(family))
        return "none" if count == 0 else "single" if count == 1 else "multiple"

    def changed(self, paths: Iterable[str]) -> bool:
        """Whether files that were added, edited or removed can change any context, so that discovery must run again."""
        return any(is_marker(path) or path == f".codeplane/{NAME}" or self._is_evidence(path) for path in paths)

    def _is_evidence(self, path: str) -> bool:
        return any(
            claim.status != "detached" and (claim.edge is None or order_of(path) <= claim.edge)
            for claim in self.router.claims_on(path)
        )
