"""What a coding agent does with the default toolset over MCP, deciding by the texts of the answers alone."""

import json
import re
from collections import Counter

from bench.agent_replay.outline import is_test, language_of
from bench.agent_replay.questions import (
    Answer,
    Change,
    Locate,
    Question,
    Rename,
    Review,
    Tests,
    Transcript,
    Understand,
)
from bench.subjects.served import Served

_FILES = 5
_AROUND = 3
_OUTLINE = 1_000
_BODY = 30
_MOST_PAGES = 5
_NEAR = 12
_HITS = 20
_IMPORT = re.compile(r"\s*(?:from\s.*\bimport\b|import\b|use\s|pub use\s|export\s.*\bfrom\b|\w+,$)")
_HIT = re.compile(r"^ *(?P<line>\d+): (?P<text>.*)$")
_ENTRY = re.compile(r"(?P<id>[0-9a-f]{16}) \w+ \S+ (?P<path>\S+?):(?P<line>\d+)")
_HEADER = re.compile(r"^\w+ \S+ (?P<path>\S+?):(?P<start>\d+)(?:-(?P<end>\d+))?(?: id (?P<id>[0-9a-f]+))?")
_MORE = re.compile(r"\d+\+? more, listed by search mode=references")
_FIRST_LINES = re.compile(r"^… \d+ more lines?: ", re.M)
_CURSOR = re.compile(r"cursor[ =:]+(\S+)")
_MEMBER = re.compile(r"^  \d+ (?P<head>.*)$", re.M)
# Several of a kind that came together: their names and lines.
_ADDED = re.compile(r"(?:\S+ )?added \w+ (\S+:\d+(?:, \S+:\d+)*)$")
_CHANGED = re.compile(r"^ *(?P<mark>[!+\-~>]) (?P<rest>.*)$")


class CodePlanePolicy:
    """Plays tasks through a running server and records what that took."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def play(self, question: Question) -> tuple[Answer, Transcript]:
        """Play a task to its end."""
        self._transcript = Transcript()
        match question:
            case Locate():
                answer = self._locate(question)
            case Understand():
                answer = self._understand(question)
            case Change():
                answer = self._change(question)
            case Rename():
                answer = self._rename(question)
            case Tests():
                answer = self._tests(question)
            case Review():
                answer = self._review(question)
        return answer, self._transcript

    def _call(self, tool: str, **arguments: object) -> str:
        written = f"{tool} {json.dumps(arguments, ensure_ascii=False)}"
        return self._transcript.add(written, self._served.text(tool, **arguments))

    def _locate(self, question: Locate) -> Answer:
        text = self._call("search", query=question.message, mode="ranked", limit=_FILES, context=_AROUND)
        paths = dict.fromkeys(path for path, _, _ in _hits(text))
        return Answer(files=tuple(sorted((path for path in paths if language_of(path)), key=is_test)))

    def _understand(self, question: Understand) -> Answer:
        text = self._call("explain_symbol", symbol=f"{question.path}:{question.name}")
        entry = _ENTRY.search(text)
        header = _HEADER.match(text)
        if header is None and entry is not None:
            text = self._call("explain_symbol", symbol=entry["id"])
            header = _HEADER.match(text)
        if header is None:
            return Answer()
        hits, places = _hits(text), _places(text)
        start, end = int(header["start"]), int(header["end"] or header["start"])
        if _MORE.search(text):
            hits = self._pages("search", query=f"{header['path']}:{start}", mode="references", limit=100)
        # Its lines stand between the header and the references, or they are read.
        shown = text.partition("\nreferences: ")[0]
        if shown.count("\n") <= end - start and not _FIRST_LINES.search(shown):
            self._call("read_files", paths=[f"{header['path']}:{start}-{min(end, start + _BODY)}"])
        uses = {(path, line) for path, line, shown in hits if _is_use(shown)} | places
        return Answer(definition=(header["path"], start), places=frozenset(uses - {(question.path, start)}))

    def _pages(self, tool: str, **arguments: object) -> list[tuple[str, int, str]]:
        text = self._call(tool, **arguments)
        hits = _hits(text)
        for _ in range(_MOST_PAGES):
            cursor = _CURSOR.search(text.rpartition("\n")[2])
            if cursor is None:
                break
            text = self._call(tool, **arguments, cursor=cursor[1])
            hits += _hits(text)
        return hits

    def _change(self, question: Change) -> Answer:
        wanted = dict.fromkeys(f"symbol:{edit.path}:{edit.name}" for edit in question.edits)
        seen = self._call("read_files", paths=list(wanted))
        # Several of a name in one file are asked for again by their ids.
        ids = list(dict.fromkeys(found["id"] for found in _ENTRY.finditer(seen)))
        if ids:
            seen += "\n" + self._call("read_files", paths=ids[:_FILES])
        if unseen := [edit for edit in question.edits if not _is_seen(edit.old, seen)]:
            # What is not in the definition may be where its name is used.
            names = "|".join(dict.fromkeys(re.escape(edit.name) for edit in unseen))
            paths = list(dict.fromkeys(edit.path for edit in unseen))
            text = self._call("search", query=rf"\b({names})\b", mode="regex", paths=paths, context=_NEAR, limit=_HITS)
            seen += "\n" + "\n".join(re.sub(r"^ *\d+[:-] ?", "", row) for row in text.splitlines())
        for _ in range(_MOST_PAGES):
            unseen_paths = dict.fromkeys(edit.path for edit in question.edits if not _is_seen(edit.old, seen))
            ends = {path: max(_read_to(seen, path), default=(0, 1)) for path in unseen_paths}
            windows = [f"{path}:{end + 1}-{end + 4 * _BODY}" for path, (end, length) in ends.items() if end < length]
            if not windows:
                break
            seen += "\n" + self._call("read_files", paths=windows)
        edits = [{"path": edit.path, "old_text": edit.old, "new_text": edit.new} for edit in question.edits]
        self._call("write_files", edits=edits)
        return Answer()

    def _rename(self, question: Rename) -> Answer:
        name, new = question.name, question.new_name
        text = self._call("refactor_rename", symbol=f"{question.path}:{name}", new_name=new, apply=True)
        if text.startswith("INVALID_ARGUMENT") and (entry := _ENTRY.search(text)):
            text = self._call("refactor_rename", symbol=entry["id"], new_name=new, apply=True)
        planned = re.search(r"refactor_id=(\S+)", text)
        if planned and "undo takes it back" not in text:
            candidate = next(
                (found[1] for found in re.finditer(r"^\W*(\S+):? .*", text, re.M) if question.path in found[0]), None
            )
            more: dict[str, object] = {"candidate": candidate} if "candidate=ID" in text and candidate else {}
            if places := re.findall(r"^  (#\d+) ", text, re.M):
                more["include"] = places
            self._call("refactor_rename", refactor_id=planned[1], apply=True, **more)
        return Answer()

    def _tests(self, question: Tests) -> Answer:
        scores: Counter[str] = Counter()
        names: list[str] = []
        text = self._call("explain_symbol", symbol=" ".join(question.paths[:_FILES]), budget=_OUTLINE)
        for tests in re.findall(r"^tests: (.*)", text, re.M):
            found = [word.strip(",") for word in tests.split() if language_of(word.strip(","))]
            for place, test in enumerate(found):
                # The nearest of each file before the others of any.
                scores[test] = max(scores[test], 100 - place)
        if not scores:
            heads = (re.search(r"[A-Za-z]\w{3,}(?=[\s(<:=]|$)(?<!def)(?<!class)", row) for row in _member_rows(text))
            names = [found[0] for found in heads if found]
        if not scores and names:
            pattern = rf"\b({'|'.join(dict.fromkeys(names[:8]))})\b"
            # One page is enough to see which files there are most of.
            for path, _, _ in _hits(self._call("search", query=pattern, mode="regex", tests="only", limit=50)):
                scores[path] += 1
        ranked = [path for path, _ in scores.most_common() if language_of(path)]
        return Answer(files=tuple(ranked[:_FILES]))

    def _review(self, question: Review) -> Answer:
        text = self._call("semantic_diff", base=question.base, target=question.target)
        rows = text.splitlines()
        for _ in range(_MOST_PAGES):
            cursor = _CURSOR.search(text.rpartition("\n")[2])
            # Changes of bodies come last, and are no part of an interface.
            if cursor is None or not any(map(_CHANGED.match, text.splitlines()[-10:])):
                break
            text = self._call("semantic_diff", base=question.base, target=question.target, cursor=cursor[1])
            rows += text.splitlines()
        names: set[str] = set()
        for row in rows:
            changed = _CHANGED.match(row)
            if changed is None:
                continue
            if together := _ADDED.match(changed["rest"]):
                names.update(re.split(r"[.:]+", place.rpartition(":")[0])[-1] for place in together[1].split(", "))
                continue
            words = re.split(r"[:(]", re.sub(r"^\S*?:\d+ ", "", changed["rest"]))[0].split()
            for word in words[2:]:
                names.add(re.split(r"[.:]+", word)[-1])
        return Answer(names=frozenset(name for name in names if re.fullmatch(r"[A-Za-z]\w*", name)))


def _member_rows(text: str) -> list[str]:
    """Heads of the public definitions of an outline, without the words before their names."""
    words = (
        r"\b(?:async|def|class|export|default|const|function|func|pub(?:\(\w+\))?|fn|struct|enum|trait|type"
        r"|interface|public|private|protected|static|final|abstract)\b"
    )
    rows = (re.sub(rf"^\s*(?:{words}\s*)+(?:\([^)]*\)\s*)?", "", found["head"]) for found in _MEMBER.finditer(text))
    return [row for row in rows if not row.startswith("_")]


def _hits(text: str) -> list[tuple[str, int, str]]:
    """Lines under their paths, as search and explain_symbol list them."""
    hits: list[tuple[str, int, str]] = []
    path = ""
    for row in text.splitlines():
        if matched := _HIT.match(row):
            if path:
                hits.append((path, int(matched["line"]), matched["text"]))
        elif language_of(row.strip()) or re.fullmatch(r"[\w./@+-]+\.\w+", row.strip()):
            path = row.strip()
        elif not re.match(r" |\d+-", row):
            path = ""
    return hits


def _places(text: str) -> set[tuple[str, int]]:
    """Places by path and numbers of lines, as explain_symbol lists those without their text."""
    rows = re.findall(r"^(?:also|tests:) (.*)$", text, re.M)
    found = (re.fullmatch(r"(\S+?):([\d?,]+)", word) for row in rows for word in row.split())
    return {(row[1], int(line.strip("?"))) for row in found if row for line in row[2].split(",")}


def _is_seen(old: str, seen: str) -> bool:
    """Whether all lines of a text were read, be it in parts."""
    rows = set(seen.splitlines())
    return old in seen or all(row in rows for row in old.splitlines() if row.strip())


def _read_to(seen: str, path: str) -> list[tuple[int, int]]:
    """The last lines that were read of a file, each with how many it has."""
    heads = re.findall(rf"^== {re.escape(path)}:\d+-(\d+) of (\d+)", seen, re.M)
    return [(int(end), int(length)) for end, length in heads]


def _is_use(text: str) -> bool:
    return not _IMPORT.match(text) and not text.strip().startswith(("#", "//", "*", "/*"))
