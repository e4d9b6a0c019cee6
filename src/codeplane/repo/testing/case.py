"""How one test went."""

from dataclasses import dataclass, replace
from typing import Literal

CaseStatus = Literal["passed", "failed", "skipped", "error"]
BAD: frozenset[str] = frozenset({"failed", "error"})
MAX_MESSAGE = 2000
MAX_STACK = 8000
MAX_CASES = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test of a report; `file` is as the runner wrote it, `owner` what else tells whose it is.

    With `is_whole` it is no test but the failure of all of its target, such as that of loading it.
    """

    name: str
    status: CaseStatus
    duration_ms: int = 0
    message: str = ""
    kind: str = ""
    stack: str = ""
    file: str = ""
    line: int | None = None
    owner: str = ""
    is_whole: bool = False

    @property
    def is_bad(self) -> bool:
        """Whether it failed, in whatever way."""
        return self.status in BAD

    def bounded(self) -> "Case":
        """The same with text of a length that can be kept; the end of a stack says more than its middle."""
        if len(self.message) <= MAX_MESSAGE and len(self.stack) <= MAX_STACK:
            return self
        stack = self.stack
        if len(stack) > MAX_STACK:
            half = MAX_STACK // 2
            stack = f"{stack[:half]}\n[… {len(stack) - MAX_STACK} characters cut …]\n{stack[-half:]}"
        return replace(self, message=self.message[:MAX_MESSAGE], stack=stack)
