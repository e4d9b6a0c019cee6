"""What went with an agent or device beside its tokens."""

from dataclasses import dataclass
from typing import Protocol

from codeplane.kernel.call import Call
from codeplane.kernel.counted import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """How many grants ended, how many questions were rejected, and how many remembered answers forgotten."""

    grants: int = 0
    questions: int = 0
    answers: int = 0

    def __add__(self, other: "Gone") -> "Gone":
        return Gone(
            grants=self.grants + other.grants,
            questions=self.questions + other.questions,
            answers=self.answers + other.answers,
        )


class LetGo(Protocol):
    """Ends what outlives a token of an agent or device."""

    async def __call__(self, call: Call, actor_id: str, *, everything: bool) -> Gone:
        """Reject what waits for it; with `everything`, end its grants and forget the answers kept for it, too."""
        ...


async def nothing_more(call: Call, actor_id: str, *, everything: bool) -> Gone:
    """For planes in which nobody holds more than tokens."""
    return Gone()


def in_words(grants: int, questions: int, answers: int) -> str:
    """What went, for the end of a sentence; empty when nothing did."""
    said = [f"{counted(grants, 'grant')} ended"] if grants else []
    said += [f"{counted(questions, 'open question')} rejected"] if questions else []
    said += [f"{counted(answers, 'remembered answer')} forgotten"] if answers else []
    return "".join(f"; {one}" for one in said)
