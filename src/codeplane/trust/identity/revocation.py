"""The grants, answers and sessions that end with a revoked agent or device."""

from dataclasses import dataclass
from typing import Protocol

from codeplane.kernel.call import Call
from codeplane.kernel.plural import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedRights:
    """How many grants ended, questions were rejected and remembered answers forgotten."""

    grants: int = 0
    questions: int = 0
    answers: int = 0

    def __add__(self, other: "RevokedRights") -> "RevokedRights":
        return RevokedRights(
            grants=self.grants + other.grants,
            questions=self.questions + other.questions,
            answers=self.answers + other.answers,
        )


class RevokeRights(Protocol):
    """Ends the rights that outlive a token of an agent or device."""

    async def __call__(self, call: Call, actor_id: str, *, everything: bool) -> RevokedRights:
        """Reject its open questions; with `everything`, also end its grants and forget its remembered answers."""
        ...


async def revoke_nothing(call: Call, actor_id: str, *, everything: bool) -> RevokedRights:
    """End nothing: for a plane without grants and approvals."""
    return RevokedRights()


def describe_revoked(grants: int, questions: int, answers: int) -> str:
    """Describe what ended, as the end of a sentence; empty when nothing did."""
    parts = [f"{plural(grants, 'grant')} ended"] if grants else []
    parts += [f"{plural(questions, 'open question')} rejected"] if questions else []
    parts += [f"{plural(answers, 'remembered answer')} forgotten"] if answers else []
    return "".join(f"; {part}" for part in parts)
