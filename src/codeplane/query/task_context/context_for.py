"""The `context_for` operation: what to read next for a diff, a failure, a review comment or a task."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from codeplane.code.resolve.world import World
from codeplane.git.read.co_change import CoChangeReader, CoChanges
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.consistent_read import read_consistently
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.past_changes import PastChanges, PastChangesReader
from codeplane.query.task_context.evidence import Candidate, Evidence, Want
from codeplane.query.task_context.path_finder import PathFinder
from codeplane.query.task_context.reading_list import ContextResult, Span, Suggestion
from codeplane.query.task_context.spans import Lined, choose_spans
from codeplane.query.task_context.task_input import MAX_GIVEN, MAX_TEXT, TaskInput, parse_input

# What is less likely than this is not listed, nor what is this much less likely than the best.
_LEAST, _BEHIND = 0.01, 0.02
# Where the words say nothing: of 310 changes of files given, the best of each was at least as likely as this.
_TIED, _TIED_COMMITS = 0.1, 2
_FED_SEC = 5.0
_MAX_NAMES = 3
# A name as only code has it, not a word of a sentence.
_CODE_NAME = re.compile(r"[a-z0-9][A-Z]|\w_\w|\w[A-Z]{2}")
_NOT_FED = "PARTIAL: the newest changes are not in the full text yet"


class ContextRequest(WorkspaceRequest):
    """What the caller has in hand, and what it wants to see."""

    synonyms: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("task", "query", "issue", "question", "description", "trace", "comment", "diff"), "text"
    )
    text: str = Field(
        min_length=1, max_length=MAX_TEXT, description="a diff, a trace, a review comment or a task, or several in one"
    )
    paths: tuple[str, ...] = Field(
        (), max_length=MAX_GIVEN, description="files it is about and you know already; path:line for a place"
    )
    want: Want | None = Field(None, description="tests to run or fix, the cause of a failure; by default by the text")
    limit: int = Field(10, ge=1, le=50)
    budget: int = Field(32_000, ge=500, le=1_000_000, description="bytes that reading the spans may take")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    task: TaskInput
    want: Want
    files: tuple[Suggestion, ...]
    size: int
    left_out: int
    fit: float
    nothing: str | None
    late: bool
    unknown: tuple[str, ...]


class TaskContextOperations:
    """Answer `context_for`."""

    def __init__(
        self, *, root: Path, knowledge: Knowledge, history: CoChangeReader | None, changes: PastChangesReader
    ) -> None:
        self._root = root
        self._knowledge = knowledge
        self._history = history
        self._changes = changes

    @operation("context_for", risk=Risk.READ)
    async def context_for(self, call: Call, request: ContextRequest) -> ContextResult:
        """The files and lines to read next for a diff, a failing trace, a review comment or a task, best first, with
        reasons and within a byte budget; or that nothing here fits. By words, names, tests, traces and what changed
        together before. want=tests finds the tests of a change."""
        history = CoChanges(shares={}, commits={})
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=False)
        changes = await self._changes.up_to(snapshot.commit)
        if self._history is not None:
            known = list(self._parse(snapshot, request).known)[:MAX_GIVEN]
            history = await self._history.changed_with(known, snapshot.commit)
        read = await read_consistently(
            self._knowledge,
            lambda snapshot: self._look(snapshot, request, history, changes),
            lambda look: [file.path for file in look.files],
        )
        look = read.answer
        for path in look.unknown:
            call.warn(f"no file here is called {path}")
        return ContextResult(
            wanted=look.want,
            given=tuple(map(path_text, look.task.given)),
            files=look.files,
            bytes=look.size,
            left_out=look.left_out,
            fit=round(look.fit, 3),
            nothing=look.nothing,
            notes=() if history.known else ("the history could not be read in time",),
            epoch=read.snapshot.epoch,
            commit=read.snapshot.commit,
            partial=read.partial or (_NOT_FED if look.late else None),
            stale=read.stale,
        )

    def _parse(self, snapshot: Snapshot, request: ContextRequest) -> TaskInput:
        def text_of(path: str) -> bytes | None:
            known = snapshot.files.get(path)
            return snapshot.text(known) if known is not None and known.skipped is None else None

        return parse_input(request.text, request.paths, PathFinder(snapshot.files), text_of)

    def _look(self, snapshot: Snapshot, request: ContextRequest, history: CoChanges, changes: PastChanges) -> _Look:
        late = not self._knowledge.text.wait(snapshot.epoch, _FED_SEC)
        task = self._parse(snapshot, request)
        want: Want = request.want or ("cause" if task.is_failure and not task.changed_text else "any")

        def keep(path: str) -> bool:
            known = snapshot.files.get(path)
            return known is not None and known.skipped is None

        world = World(snapshot, self._knowledge.store, self._knowledge.modules)
        evidence = Evidence(world, self._knowledge.store, self._knowledge.text, task, keep)
        candidates = evidence.collect(history.shares, changes)
        weights = evidence.weights(want)
        ranked = sorted(((candidate.score(weights), candidate) for candidate in candidates), key=_order)
        best = ranked[0][0] if ranked else 0.0
        strong = [(score, candidate) for score, candidate in ranked if score >= max(_LEAST, _BEHIND * best)]
        nothing = None if strong else "no file has its words, its names or a history with it"
        # What changed again and again together with a file is to be read with it, whatever the words are.
        is_tied = bool(task.given) and (best >= _TIED or max(history.commits.values(), default=0) >= _TIED_COMMITS)
        if strong and not (task.changed_text or task.failed or evidence.words_answer or is_tied):
            nearest = ", ".join(path_text(candidate.path) for _, candidate in strong[:_MAX_NAMES])
            tie = ", and little to do with the files given" if task.given else ""
            nothing, strong = f"even the nearest have few of its words{tie} ({nearest})", []
        files: list[Suggestion] = []
        size = 0
        for score, candidate in strong[: request.limit]:
            places = task.failed.get(candidate.path, ())
            spans = choose_spans(
                world.text(candidate.path),
                world.facts(candidate.path),
                words=evidence.words,
                names=candidate.names,
                places=places,
            )
            # The first file is listed however large it is; later ones with as many of their lines as fit.
            fitting = _fit_spans(spans, request.budget - size, at_least=0 if files else 1)
            if not fitting:
                break
            size += sum(span.size for span in fitting)
            files.append(_suggestion(score, candidate, fitting, history.commits))
        return _Look(
            task=task,
            want=want,
            files=tuple(files),
            size=size,
            left_out=len(strong) - len(files),
            fit=evidence.fit,
            nothing=nothing,
            late=late,
            unknown=tuple(path for path in request.paths if PathFinder(snapshot.files).find(_bare(path)) is None),
        )


def _order(ranked: tuple[float, Candidate]) -> tuple[float, str]:
    return -ranked[0], ranked[1].path


def _bare(path: str) -> str:
    named, _, number = path.rpartition(":")
    return named if named and number.isdigit() else path


def _fit_spans(spans: Sequence[Lined], room: int, *, at_least: int) -> list[Lined]:
    fitting: list[Lined] = []
    for span in spans:
        if span.size > room and len(fitting) >= at_least:
            break
        fitting.append(span)
        room -= span.size
    return fitting


def _suggestion(score: float, candidate: Candidate, spans: Sequence[Lined], commits: Mapping[str, int]) -> Suggestion:
    signs = candidate.signs
    reasons = []
    if "mentioned" in signs:
        reasons.append("in the trace")
    if count := commits.get(candidate.path):
        reasons.append(f"changed together in {plural(count, 'commit')}")
    if names := [name for name in candidate.names if _CODE_NAME.search(name)]:
        reasons.append(f"has {', '.join(names[:_MAX_NAMES])}")
    if signs.get("alike", 0.0) >= 0.5:
        reasons.append("named alike")
    if "manifest" in signs:
        reasons.append("says what the package is made of")
    if signs.get("history", 0.0) >= 0.5:
        reasons.append("changed in a commit like this")
    if signs.get("calls", 0.0) >= 0.5:
        reasons.append("defines what is used there")
    if not reasons and "words" in signs:
        reasons.append("has the words")
    return Suggestion(
        path=path_text(candidate.path),
        score=round(score, 3),
        reasons=tuple(reasons),
        spans=tuple(Span(first=span.first, last=span.last, title=span.title) for span in spans),
    )
