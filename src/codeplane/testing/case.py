"""The result of one test."""

from typing import Literal

import msgspec

CaseStatus = Literal["passed", "failed", "skipped", "error"]
BAD: frozenset[str] = frozenset({"failed", "error"})
MAX_MESSAGE = 2000
MAX_STACK = 8000
MAX_CASES = 50_000


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One test of a report: `file` as the runner wrote it, `owner` the class or package that tells its target.

    `is_target_failure`: no single test, but a failure of the whole target, such as one that cannot be loaded.
    """

    name: str = msgspec.field(name="name")
    status: CaseStatus = msgspec.field(name="status")
    duration_ms: int = msgspec.field(default=0, name="duration_ms")
    message: str = msgspec.field(default="", name="message")
    kind: str = msgspec.field(default="", name="kind")
    stack: str = msgspec.field(default="", name="stack")
    file: str = msgspec.field(default="", name="file")
    line: int | None = msgspec.field(default=None, name="line")
    owner: str = msgspec.field(default="", name="owner")
    is_target_failure: bool = msgspec.field(default=False, name="is_whole")

    @property
    def is_bad(self) -> bool:
        """Whether it failed or had an error."""
        return self.status in BAD

    def cut_texts(self) -> "Case":
        """Return a copy with its texts cut to a length worth storing; a stack keeps its start and its end."""
        if len(self.message) <= MAX_MESSAGE and len(self.stack) <= MAX_STACK:
            return self
        stack = self.stack
        if len(stack) > MAX_STACK:
            half = MAX_STACK // 2
            stack = f"{stack[:half]}…\n[… {len(stack) - MAX_STACK} characters cut …]\n…{stack[-half:]}"
        return msgspec.structs.replace(self, message=self.message[:MAX_MESSAGE], stack=stack)


class UnreadableReport(ValueError):
    """The report of a runner is not in its format, or too large."""
