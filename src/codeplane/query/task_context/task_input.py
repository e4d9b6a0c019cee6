"""The input of `context_for`: prose, changed lines of a diff, and the places a failure names."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from codeplane.index.path_kinds import is_test
from codeplane.query.task_context.path_finder import PathFinder

Lines = tuple[tuple[int, int], ...]

MAX_TEXT = 65_536
MAX_GIVEN = 5
_MAX_PLACES = 60
# Comments of templates, links and pictures have words, and none of them is about the code.
_NOISE = re.compile(r"<!--.*?(?:-->|\Z)|!\[[^\]\n]*\]\([^)\n]*\)|https?://\S+", re.DOTALL)
_HEADER = re.compile(r"^(?:diff --git |index [0-9a-f]+\.\.|(?:new|deleted) file mode |similarity index |rename )")
_SIDE = re.compile(r"^(?:--- (?:a/)?|\+\+\+ (?:b/)?)(?P<path>[^\t\n]+)")
_HUNK = re.compile(
    r"^@@ -(?P<old>\d{1,9})(?:,(?P<old_count>\d{1,9}))? \+(?P<new>\d{1,9})(?:,(?P<new_count>\d{1,9}))? @@"
)
# File "a.py", line 3; a.go:3; (A.java:3); a.rs:3:5
_PLACE = re.compile(
    r"(?P<path>(?:[\w.@+~-]*[/\\])*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,4})(?:\"?, line |:|\()(?P<line>\d{1,7})\b"
)
_NODE = re.compile(r"(?P<path>[\w./@+-]+\.\w{1,4})::(?P<name>[\w:]+)")
_FAILED_NAME = re.compile(r"(?:--- FAIL: |^test |FAILED? |✗ |✕ |× )(?P<name>[A-Za-z_][\w:]*)", re.MULTILINE)
_INNERMOST_LAST = re.compile(r"Traceback \(most recent call last\)|^E   ", re.MULTILINE)
_FAILURE = re.compile(
    r"Traceback \(most recent call last\)|^\s*at \S+ ?\(|^panic: |panicked at|^--- FAIL: |^FAILED? |^E   "
    r"|AssertionError|\b\w+(?:Error|Exception)\b: ",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInput:
    """What a caller has in hand: prose, the files it knows with their changed lines, and names on those lines."""

    prose: str
    given: dict[str, Lines]
    """The files it already knows, with the lines it is about, if any."""
    changed_text: str
    """The added and removed lines of a diff."""
    failed: dict[str, Lines]
    """Places that a failure names, by file, the one where it failed first."""
    failed_names: tuple[str, ...]
    is_failure: bool

    @property
    def known(self) -> dict[str, Lines]:
        """The files it starts from: those given, or the tests that fail."""
        return self.given or {path: lines for path, lines in self.failed.items() if is_test(path)}


def parse_input(
    text: str, paths: Sequence[str], finder: PathFinder, text_of: Callable[[str], bytes | None]
) -> TaskInput:
    """Take a text apart; `paths` are the files the caller already knows, as `path` or `path:line`."""
    given: dict[str, Lines] = {}
    for path in paths:
        named, _, number = path.rpartition(":")
        found, line = (finder.find(named), int(number)) if named and number.isdigit() else (finder.find(path), 0)
        if found is not None:
            given[found] = ((max(1, line - 10), line + 10),) if line else ()
    prose, hunks = _split(text[:MAX_TEXT])
    alone = next(iter(given), None) if len(given) == 1 else None
    changed: list[str] = []
    for hunk in hunks:
        changed += hunk.changed
        changed_file = finder.find(hunk.path) if hunk.path else alone
        if changed_file is not None and len(given) < MAX_GIVEN + len(paths):
            given[changed_file] = (*given.get(changed_file, ()), *hunk.lines(text_of(changed_file)))
    failed, names = _failed_places(prose, finder)
    return TaskInput(
        prose=_NOISE.sub(" ", prose).strip(),
        given=given,
        changed_text="\n".join(changed),
        failed=failed,
        failed_names=names,
        is_failure=bool(names) or _FAILURE.search(prose) is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hunk:
    path: str
    old: int
    new: int
    rows: list[str]

    @property
    def changed(self) -> list[str]:
        return [row[1:] for row in self.rows if row[:1] in ("+", "-")]

    def lines(self, text: bytes | None) -> Lines:
        """The changed lines, counted as the file is now: with the change, or before it."""
        added = [row[1:].strip() for row in self.rows if row[:1] == "+" and row[1:].strip()]
        here = {line.strip() for line in text.decode("utf-8", "replace").split("\n")} if text is not None else set()
        is_made = bool(added) and all(line in here for line in added)
        own, other = ("+", "-") if is_made else ("-", "+")
        number, found, before = self.new if is_made else self.old, set[int](), ""
        for row in self.rows:
            # What was put in the place of lines belongs to them; what was added or removed alone, to the next.
            if row[:1] == own or (row[:1] == other and before not in (own, other)):
                found.add(max(1, number))
            number += row[:1] != other and not row.startswith("\\")
            before = row[:1]
        return tuple((line, line) for line in sorted(found))


def _split(text: str) -> tuple[str, list[_Hunk]]:
    """Prose and the hunks of diffs in it."""
    prose: list[str] = []
    hunks: list[_Hunk] = []
    rows: list[str] = []
    path = ""
    old = new = 0
    for line in text.split("\n"):
        if (old > 0 or new > 0) and line[:1] in ("+", "-", " ", "\\", ""):
            rows.append(line)
            old -= line[:1] in ("-", " ", "")
            new -= line[:1] in ("+", " ", "")
        elif found := _HUNK.match(line):
            old, new = int(found["old_count"] or 1), int(found["new_count"] or 1)
            rows = []
            hunks.append(_Hunk(path=path, old=int(found["old"]), new=int(found["new"]), rows=rows))
        elif found := _SIDE.match(line):
            path = found["path"] if found["path"] != "/dev/null" else path
        elif not _HEADER.match(line):
            old = new = 0
            prose.append(line)
    return "\n".join(prose), hunks


def _failed_places(prose: str, finder: PathFinder) -> tuple[dict[str, Lines], tuple[str, ...]]:
    places: dict[str, Lines] = {}
    for found in islice(_PLACE.finditer(prose), _MAX_PLACES):
        file, line = finder.find(found["path"]), int(found["line"])
        if file is not None and line:
            places[file] = (*places.get(file, ()), (line, line))
    nodes = list(islice(_NODE.finditer(prose), _MAX_PLACES))
    for found in nodes:
        if file := finder.find(found["path"]):
            places.setdefault(file, ())
    if _INNERMOST_LAST.search(prose):
        places = dict(reversed(places.items()))
    names: Iterable[str] = [node["name"].rpartition("::")[2] for node in nodes]
    names = dict.fromkeys([*names, *(found["name"] for found in islice(_FAILED_NAME.finditer(prose), _MAX_PLACES))])
    return places, tuple(names)
