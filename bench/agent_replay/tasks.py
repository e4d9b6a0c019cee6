"""Tasks derived from commits, and what is right for each."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bench.agent_replay.commits import Commit, Hunk, git
from bench.agent_replay.outline import Definition, definitions, innermost, is_test, language_of
from bench.agent_replay.questions import Change, Edit, Kind, Locate, Question, Rename, Review, Tests, Understand
from bench.agent_replay.truth import Truth

_MOST_MESSAGE = 1_000
_MOST_EDITS = 6
_MOST_USES = 150
_KINDS: dict[Kind, type[Any]] = {
    "locate": Locate,
    "understand": Understand,
    "change": Change,
    "rename": Rename,
    "tests": Tests,
    "review": Review,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question about a checkout, and what is right, which no policy sees."""

    repo: str
    checkout: str
    sha: str
    kind: Kind
    language: str
    question: Question
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()
    line: int = 0
    text: dict[str, str] | None = None

    @property
    def key(self) -> str:
        """What tells a task from all others."""
        return f"{self.repo} {self.sha[:12]} {self.kind}"

    def to_json(self) -> dict[str, object]:
        """The task as a line of a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Task":
        """A task from a line of a file."""
        asked = dict(row["question"])
        if row["kind"] == "change":
            asked = {"edits": tuple(Edit(**edit) for edit in asked["edits"])}
        if row["kind"] == "tests":
            asked["paths"] = tuple(asked["paths"])
        return cls(
            **row
            | {
                "question": _KINDS[row["kind"]](**asked),
                "files": tuple(row["files"]),
                "names": tuple(row["names"]),
                "places": tuple((path, line) for path, line in row["places"]),
            }
        )


class Deriver:
    """Derives the tasks of a commit; `truth` stands on a checkout of the parent."""

    def __init__(self, commit: Commit, truth: Truth) -> None:
        self._commit = commit
        self._truth = truth
        self._texts = {path: git(commit.repo, "show", f"{commit.parent}:{path}") for path in commit.source}
        self._outlines = {path: definitions(path, text) for path, text in self._texts.items()}
        self._edited = [
            (hunk, found)
            for hunk in commit.hunks
            if hunk.path in self._texts and (found := self._definition(hunk)) is not None
        ]

    def tasks(self) -> Iterator[Task]:
        """Every task that the commit is good for."""
        yield self._locate()
        for made in (self._understand(), self._change(), self._rename(), self._tests(), self._review()):
            if made is not None:
                yield made

    def _task(self, kind: Kind, question: Question, **right: Any) -> Task:
        commit = self._commit
        return Task(
            repo=commit.repo.name,
            checkout=commit.parent,
            sha=commit.sha,
            kind=kind,
            language=commit.language,
            question=question,
            **right,
        )

    def _definition(self, hunk: Hunk) -> Definition | None:
        line = hunk.start if hunk.old else max(hunk.start - 1, 1)
        return innermost(self._outlines[hunk.path], line)

    def _locate(self) -> Task:
        names = dict.fromkeys(found.name for _, found in self._edited)
        message = self._commit.message[:_MOST_MESSAGE]
        return self._task("locate", Locate(message=message), files=tuple(self._commit.source), names=tuple(names))

    def _understand(self) -> Task | None:
        for hunk, found in self._edited:
            text = self._texts[hunk.path].split("\n")
            column = text[found.line - 1].find(found.name)
            if re.fullmatch(r"__\w+__|constructor|main|init", found.name):
                continue
            places = self._truth.references(hunk.path, found.line, column, found.name)
            if places is not None and 0 < len(places) <= _MOST_USES:
                question = Understand(path=hunk.path, name=found.name)
                return self._task(
                    "understand", question, files=(hunk.path,), places=tuple(sorted(places)), line=found.line
                )
        return None

    def _change(self) -> Task | None:
        edits: list[Edit] = []
        expected = {hunk.path: self._texts[hunk.path] for hunk, _ in self._edited}
        for hunk, found in self._edited[:_MOST_EDITS]:
            edit = _edit(hunk, found, self._texts[hunk.path])
            if edit is not None and expected[hunk.path].count(edit.old) == 1:
                expected[hunk.path] = expected[hunk.path].replace(edit.old, edit.new)
                edits.append(edit)
        if not edits:
            return None
        changed = {edit.path for edit in edits}
        return self._task(
            "change",
            Change(edits=tuple(edits)),
            text={path: text for path, text in expected.items() if path in changed},
        )

    def _rename(self) -> Task | None:
        for path, old, new in self._commit.renames():
            word = re.compile(rf"\b{re.escape(old)}\b")
            places = []
            for hunk in self._commit.hunks:
                if hunk.path not in self._commit.created and language_of(hunk.path):
                    places += [
                        (hunk.path, hunk.start + offset) for offset, line in enumerate(hunk.old) if word.search(line)
                    ]
            return self._task("rename", Rename(path=path, name=old, new_name=new), places=tuple(places))
        return None

    def _tests(self) -> Task | None:
        if not self._commit.tests:
            return None
        return self._task("tests", Tests(paths=tuple(self._commit.source)), files=tuple(self._commit.tests))

    def _review(self) -> Task | None:
        commit = self._commit
        paths = {hunk.path for hunk in commit.hunks if language_of(hunk.path) and not is_test(hunk.path)}
        names = self._truth.interface_changes(commit.repo, commit.parent, commit.sha, sorted(paths))
        if names is None:
            return None
        return self._task("review", Review(base=commit.parent, target=commit.sha), names=tuple(sorted(names)))


def _edit(hunk: Hunk, found: Definition, text: str) -> Edit | None:
    """An edit by its text, with as many lines before it as make it the only such place."""
    lines = text.split("\n")
    start, end = hunk.start - 1, hunk.start - 1 + len(hunk.old)
    if lines[start:end] != list(hunk.old):
        return None
    first = start if hunk.old else start - 1
    while first >= 0:
        old = "\n".join(lines[first:end])
        if old.strip() and text.count(old) == 1:
            new = "\n".join([*lines[first:start], *hunk.new])
            return Edit(path=hunk.path, name=found.name, old=old, new=new)
        first -= 1
    return None
