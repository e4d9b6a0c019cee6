"""Results about words in comments and documentation: those that change, and those that are left."""

from collections.abc import Sequence

from pydantic import Field

from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.refactor.draft import Confidence

_SHOWN_LEFT = 10


class DocMatch(Result):
    """A word in a comment or in documentation."""

    id: int = Field(description="its number in the plan")
    file: str
    line: int
    column: int
    old: str
    new: str
    confidence: Confidence
    applies: bool
    context: str
    why: str = ""

    @property
    def is_dotted(self) -> bool:
        """Whether it is written as a member of something."""
        return self.why.startswith("written as")


class DocEdits(Result):
    """What the documentation sweep found: those of the page, and how many there are in all."""

    files_changed: int
    total: int
    applying: int
    review_recommended: bool
    matches: tuple[DocMatch, ...] = ()

    def text(self) -> str:
        """The words that change, by file; the others are counted, and the first of the page named by their numbers."""
        changed = _words_by_file([match for match in self.matches if match.applies])
        count, left = self.total - self.applying, [match for match in self.matches if not match.applies]
        lines = [f"words: {changed}"] if changed else []
        if count:
            how = "to change: include=[documents] or [#NUMBER, …]"
            lines.append(f"{plural(count, 'word')} left alone, less sure ({how}){_first_words(left, count, '#')}")
        return "\n".join(lines)

    def text_after(self, *, changed: bool) -> str:
        """All of them, once a plan is applied."""
        if changed:
            return f"words: {_words_by_file(self.matches)}"
        where = "in comments and documentation left alone, less sure"
        return f"{plural(self.total, 'word')} {where}{_first_words(self.matches, self.total)}"


def _first_words(words: Sequence[DocMatch], count: int, sign: str = "") -> str:
    """Some words by their places; a dotted name more likely means a thing of a program than a word alone does."""
    first = sorted(words, key=lambda match: not match.is_dotted)[:_SHOWN_LEFT]
    more = f" and {count - len(first):,} more" if first and count > len(first) else ""
    return f": {_words_by_file(first, sign)}{more}" if first else ""


def _words_by_file(words: Sequence[DocMatch], sign: str = "") -> str:
    """Words in their files, with their numbers where there is a sign for them."""
    named: dict[str, list[str]] = {}
    for match in words:
        doubt = "?" if match.applies and match.confidence != "high" else ""
        number = f"{sign}{match.id}=" if sign else ""
        named.setdefault(match.file, []).append(f"{number}{match.line}:{match.column}{doubt}")
    return "; ".join(f"{file} {' '.join(places)}" for file, places in named.items())
