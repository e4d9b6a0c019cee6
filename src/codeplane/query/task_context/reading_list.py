"""The answer of `context_for`: files and lines to read next, each with its reasons."""

from pydantic import Field

from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

_MAX_TITLE = 120


class Span(Result):
    """Lines to read."""

    first: int
    last: int
    title: str = Field("", description="the definition they are, or lie in")

    def text(self) -> str:
        return f"  {self.first}-{self.last} {self.title[:_MAX_TITLE]}".rstrip()


class Suggestion(Result):
    """A file to read, with the reasons."""

    path: str
    score: float = Field(description="how likely it is needed, 0 to 1, comparable between questions")
    reasons: tuple[str, ...]
    spans: tuple[Span, ...] = ()

    def text(self) -> str:
        reasons = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return "\n".join([f"{self.path} {self.score:.2f}{reasons}", *(span.text() for span in self.spans)])


class ContextResult(Result):
    """What to read next, best first, or that nothing here fits."""

    wanted: str
    given: tuple[str, ...] = Field((), description="the files the question is about, which are not listed again")
    files: tuple[Suggestion, ...]
    bytes: int = Field(description="what reading all of the spans takes")
    left_out: int = Field(0, description="files that fit and are beyond the limit or the budget")
    fit: float = Field(0.0, description="the share of the text's words that the best file has")
    nothing: str | None = Field(None, description="why nothing here fits, if so")
    notes: tuple[str, ...] = ()
    epoch: int
    commit: str | None
    partial: str | None = None
    stale: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [file.text() for file in self.files]
        state = f"epoch {self.epoch} at {(self.commit or 'no commit')[:9]}"
        if self.nothing:
            lines.append(f"nothing here fits: {self.nothing}")
        about = f" for {', '.join(self.given[:3])}" if self.given else ""
        summary = f"[{plural(len(self.files), 'file')}{about}, {self.bytes} bytes to read, {state}]"
        if self.left_out:
            summary += f" {plural(self.left_out, 'more file')} left out by limit or budget"
        for note in (*self.notes, self.partial):
            summary += f" {note}" if note else ""
        if self.stale:
            summary += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}"
        return "\n".join([*lines, summary])
