"""All contexts of one repository, discovered and probed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from codeplane.index.contexts.candidate import Context
from codeplane.index.contexts.choice import Choices, Defaults
from codeplane.index.contexts.contexts_file import NAME, ContextsFile
from codeplane.index.contexts.discovery import Read, discover, is_marker
from codeplane.index.contexts.probe import Parse, order_of, probe_candidates
from codeplane.index.contexts.router import Router
from codeplane.kernel.errors import CodePlaneError


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """The result of one discovery; `problem` says why contexts.yaml was not read or written."""

    all: tuple[Context, ...]
    router: Router
    defaults: Defaults
    problem: CodePlaneError | None = None

    @classmethod
    def discover(cls, paths: Iterable[str], read: Read, parse: Parse, file: ContextsFile | None = None) -> "Contexts":
        """Discover, filter and probe every context; a broken contexts.yaml is reported and left unchanged."""
        listed = list(paths)
        choices, problem = Choices(), None
        if file is not None:
            try:
                choices = file.load()
            except CodePlaneError as error:
                problem = error
        contexts = probe_candidates(choices.apply_to(discover(listed, read)), listed, read, parse)
        if file is not None and problem is None:
            try:
                file.write(contexts)
            except CodePlaneError as error:
                problem = error
        return cls(all=contexts, router=Router(contexts), defaults=choices.defaults, problem=problem)

    def valid(self, family: str | None = None) -> tuple[Context, ...]:
        """The valid contexts, of one family or of all."""
        return tuple(each for each in self.all if each.status == "valid" and family in (None, each.family))

    def mode_of(self, family: str) -> Literal["none", "single", "multiple"]:
        """Whether a family has no, one or several valid contexts."""
        count = len(self.valid(family))
        return "none" if count == 0 else "single" if count == 1 else "multiple"

    def may_change(self, paths: Iterable[str]) -> bool:
        """Whether changed files can affect any context, so that discovery must run again."""
        return any(is_marker(path) or path == f".codeplane/{NAME}" or self._is_evidence(path) for path in paths)

    def _is_evidence(self, path: str) -> bool:
        return any(
            claim.status != "detached" and (claim.edge is None or order_of(path) <= claim.edge)
            for claim in self.router.claims_on(path)
        )
