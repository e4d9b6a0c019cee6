"""What a coding agent does with its native tools: ripgrep, windows of files, edits by old and new text, git.

Written before any figure was taken, and frozen: a change here makes figures incomparable. Of each step the cheap way is
taken: matches are cut at a page, several windows are read by one command, and nothing is looked at twice.
"""

import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

from bench.agent_replay.message_words import identifiers, words
from bench.agent_replay.outline import SUFFIXES, head_name, is_test, language_of
from bench.agent_replay.questions import (
    Answer,
    Change,
    Locate,
    Place,
    Question,
    Rename,
    Review,
    Tests,
    Transcript,
    Understand,
)

_PAGE = 60
_BODY = 30
_MOST_OUTPUT = 30_000
_TIMEOUT_SEC = 60
_FILES = 5
_HIT = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):(?P<text>.*)$", re.M)
_COMMENT = re.compile(r"\s*(?:#|//|\*|/\*)")
_IMPORT = re.compile(r"\s*(?:from\s.*\bimport\b|import\b|use\s|pub use\s|export\s.*\bfrom\b|\w+,$)")
_HEADS = (
    r"((pub|export|default|async|abstract|public|protected|private|static|final|unsafe)(\([a-z]+\))? )*"
    r"(def|class|func|fn|function|const|interface|type|struct|enum|trait|record)( \([^)]*\))?"
)
_CODE = "-tpy -tts -tgo -trust -tjava"
_TESTS = "-g '*test*' -g '*spec*' -g '**/tests/**' -g '**/test/**' -g '**/__tests__/**'"


class ShellPolicy:
    """Plays tasks in a checkout and records what that took."""

    def __init__(self, root: Path) -> None:
        self._root = root

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

    def _bash(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=self._root, capture_output=True, timeout=_TIMEOUT_SEC, stdin=subprocess.DEVNULL
        )
        output = (done.stdout + done.stderr).decode(errors="replace")[:_MOST_OUTPUT]
        return self._transcript.add(command, output)

    def _edit(self, path: str, old: str, new: str) -> str:
        """The edit tool of agents: the old text must be there exactly once."""
        file = self._root / path
        text = file.read_bytes().decode(errors="surrogateescape")
        if text.count(old) != 1:
            answer = f"Error: found {text.count(old)} matches of the string to replace in {path}; provide more context."
        else:
            file.write_bytes(text.replace(old, new).encode(errors="surrogateescape"))
            answer = f"The file {path} has been updated successfully."
        return self._transcript.add(f"{path}\n{old}\n{new}", answer)

    def _locate(self, question: Locate) -> Answer:
        names, plain = identifiers(question.message), words(question.message)
        scores: Counter[str] = Counter()
        pattern = ""
        for asked in ([names] if names else []) + [plain]:
            if not asked or sum(not is_test(path) for path in scores) >= 2:
                continue
            pattern = "|".join(map(re.escape, asked))
            # Which files, before any line is read.
            counts = self._bash(f"rg -c -i {shlex.quote(pattern)} {_CODE} | sort -t: -k2 -nr | head -20")
            for row in counts.splitlines():
                path, _, count = row.rpartition(":")
                near = sum(word.lower() in path.lower() for word in (*names, *plain))
                scores[path] += (min(int(count), 10) if count.isdigit() else 0) + 5 * near
        ranked = sorted((path for path, _ in scores.most_common() if language_of(path)), key=is_test)
        if ranked:
            first = " ".join(map(shlex.quote, ranked[:2]))
            self._bash(f"rg -n -i {shlex.quote(pattern)} {first} -M 120 | head -{_PAGE}")
        return Answer(files=tuple(ranked[:_FILES]))

    def _understand(self, question: Understand) -> Answer:
        name, path = question.name, question.path
        listed = f"rg -nw {name} -M 120 -t {_kind(path)}"
        hits = _hits(self._bash(f"{listed} | head -{_PAGE}"))
        if len(hits) >= _PAGE:
            # A common word: only what looks like a call, and what is beside the definition.
            hits = _hits(self._bash(f"rg -n '\\b{name}\\(' -M 120 -t {_kind(path)} | head -{_PAGE}"))
        heads = [hit for hit in hits if head_name(hit[0], hit[2]) == name]
        own = next((hit for hit in heads if hit[0] == path), None)
        line = own[1] if own else 1
        self._bash(f"sed -n '{line},{line + _BODY}p' {shlex.quote(path)}")
        return Answer(definition=(path, line), places=_uses(hits, name))

    def _change(self, question: Change) -> Answer:
        by_path: dict[str, list[str]] = {}
        for edit in question.edits:
            by_path.setdefault(edit.path, []).append(edit.name)
        names = "|".join(dict.fromkeys(edit.name for edit in question.edits))
        paths = " ".join(map(shlex.quote, by_path))
        hits = _hits(self._bash(f"rg -nHw {shlex.quote(names)} {paths}"))
        windows: list[str] = []
        shown: dict[Place, int] = {}
        for path, wanted in by_path.items():
            for name in dict.fromkeys(wanted):
                heads = [hit[1] for hit in hits if hit[0] == path and head_name(path, hit[2]) == name]
                for line in heads[:2]:
                    shown[path, line] = line + _BODY
                    windows.append(f"sed -n '{line},{line + _BODY}p' {shlex.quote(path)}")
        seen = self._bash("; ".join(windows)) if windows else ""
        for edit in question.edits:
            seen = self._look_further(edit.path, edit.old, seen, shown)
            self._edit(edit.path, edit.old, edit.new)
        return Answer()

    def _look_further(self, path: str, old: str, seen: str, shown: dict[Place, int]) -> str:
        """Read on, a window at a time, until the place is on the screen."""
        whole = (self._root / path).read_bytes().decode(errors="replace")
        length = whole.count("\n") + 1
        at = max((end for (known, _), end in shown.items() if known == path), default=0)
        while old not in seen and at < length:
            seen += self._bash(f"sed -n '{at + 1},{at + 4 * _BODY}p' {shlex.quote(path)}")
            at += 4 * _BODY
            shown[path, at] = at
        return seen

    def _rename(self, question: Rename) -> Answer:
        name, new = question.name, question.new_name
        output = self._bash(f"rg -cw {name} | head -{_PAGE}; rg -n '{_HEADS} *{name}\\b' -M 120 | head -20")
        heads = {path for path, _, text in _hits(output) if head_name(path, text) == name}
        files = [row.rpartition(":")[0] for row in output.splitlines() if re.fullmatch(r"[^:]+:\d+", row)]
        if heads <= {question.path}:
            self._bash(f"rg -lw {name} | xargs sed -i 's/\\b{name}\\b/{new}/g'")
        else:
            # Others have the name too: where it is defined, and files that name its module.
            stem = PurePosixPath(question.path).stem
            mine = " ".join(shlex.quote(path) for path in files if path not in heads - {question.path})
            near = self._bash(f"rg -lw {stem} {mine} | head -{_PAGE}").splitlines()
            chosen = dict.fromkeys([question.path, *near])
            self._bash(f"sed -i 's/\\b{name}\\b/{new}/g' {' '.join(map(shlex.quote, chosen))}")
        self._bash("git diff --stat")
        return Answer()

    def _tests(self, question: Tests) -> Answer:
        stems = [_stem(path) for path in question.paths]
        pattern = "|".join(dict.fromkeys(stems))
        beside = self._bash(f"rg --files {_TESTS} | rg -i {shlex.quote(pattern)}").splitlines()
        scores: Counter[str] = Counter({path: 5 for path in beside if _stem(path) in stems})
        scores.update(beside)
        if len(scores) < _FILES:
            heads = self._bash(
                f"rg -n '^\\s*{_HEADS} ' -M 120 {' '.join(map(shlex.quote, question.paths))} | head -{_PAGE}"
            )
            first = question.paths[0]
            names = [head_name(first, re.sub(r"^(?:[^:\s]+:)?\d+:", "", row)) for row in heads.splitlines()]
            public = [name for name in dict.fromkeys(names) if name and not name.startswith("_")][:8]
            if public:
                counts = self._bash(f"rg -cw {shlex.quote('|'.join(public))} {_TESTS} | sort -t: -k2 -nr | head -20")
                for place, row in enumerate(counts.splitlines()):
                    path, _, count = row.rpartition(":")
                    scores[path] += 3 if count.isdigit() and place < 3 else 1
        return Answer(files=tuple(path for path, _ in scores.most_common() if language_of(path))[:_FILES])

    def _review(self, question: Review) -> Answer:
        base, target = question.base, question.target
        source = " ".join(f"'*{suffix}'" for suffix in SUFFIXES)
        heads = rf"^(\+\+\+ |[-+]\s*{_HEADS})"
        diff = self._bash(
            f"git diff -U0 {base} {target} -- {source} ':!*test*' | rg {shlex.quote(heads)} | cut -c1-160"
        )
        names: set[str] = set()
        path = ""
        for row in diff.splitlines():
            if row.startswith("+++ b/"):
                path = row.removeprefix("+++ b/")
            elif row[:1] in "+-" and (name := head_name(path, row[1:])) and not name.startswith("_"):
                names.add(name)
        return Answer(names=frozenset(names))


def _hits(output: str) -> list[tuple[str, int, str]]:
    return [(found["path"], int(found["line"]), found["text"]) for found in _HIT.finditer(output)]


def _uses(hits: list[tuple[str, int, str]], name: str) -> frozenset[Place]:
    """The lines an agent would call uses: neither definitions, imports nor comments."""
    return frozenset(
        (path, line)
        for path, line, text in hits
        if head_name(path, text) != name and not _COMMENT.match(text) and not _IMPORT.match(text)
    )


def _stem(path: str) -> str:
    """The name of a module or of its tests, without what marks tests."""
    posix = PurePosixPath(path)
    stem = re.sub(r"(^test_|[._](test|spec)s?$|Tests?$)", "", posix.name.split(".")[0])
    return posix.parent.name if stem in ("__init__", "index", "mod", "lib", "main") and posix.parent.name else stem


def _kind(path: str) -> str:
    return {"python": "py", "typescript": "ts", "go": "go", "rust": "rust", "java": "java"}[
        language_of(path) or "python"
    ]
