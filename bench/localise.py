"""Issue to file: how often the file that a fix changed is among the first 1, 5 and 10. `python -m bench.localise`."""

import argparse
import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Stopwatch, machine, table
from codeplane.git.read.change_history import LOG, parse_changes
from codeplane.index.fulltext import Document, FullText, Term, parts
from codeplane.index.path_kinds import is_test
from codeplane.query.search.past_changes import NO_CHANGES, PastChanges
from codeplane.query.search.question import MAX_QUESTION
from codeplane.query.search.ranking import rank

SOURCE = frozenset(
    (
        ".py",
        ".pyx",
        ".pyi",
        ".js",
        ".jsx",
        ".ts",
        ".tsx",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".hpp",
        ".go",
        ".rs",
        ".java",
        ".rb",
    )
)
_MAX_BYTES = 2_000_000
_DEFINITION = re.compile(rb"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)
_TOPS = (1, 5, 10)
_MISSED = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An issue, the commit it was found in, and the files that its fix changed."""

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    files: tuple[str, ...]

    @property
    def half(self) -> str:
        """One of two halves by the id: weights are chosen on the first, and the second tells whether they hold."""
        return "AB"[int(hashlib.sha256(self.instance_id.encode()).hexdigest(), 16) % 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """At which place the first right file was, and how long that took."""

    instance: Instance
    place: int
    took_ms: float


class Repositories:
    """Where the files of a commit come from: git repositories by name, or unpacked trees named in a table."""

    def __init__(self, *, repos: Path | None, trees: Path | None) -> None:
        self._repos, self._trees = repos, trees
        table_file = trees / "trees.json" if trees else None
        self._table: dict[str, str] = json.loads(table_file.read_bytes()) if table_file else {}

    def files(self, instance: Instance) -> dict[str, bytes] | None:
        """Every text file at the instance's commit, or None when it cannot be had."""
        if tree := self._table.get(instance.instance_id) or self._table.get(instance.base_commit):
            assert self._trees is not None
            return dict(_in_folder(self._trees / tree))
        repository = self._repository(instance.repo)
        if repository is None:
            return None
        asked = ["git", "-C", str(repository), "cat-file", "-e", f"{instance.base_commit}^{{commit}}"]
        if subprocess.run(asked, capture_output=True, check=False).returncode:
            return None
        return dict(_in_git(repository, instance.base_commit))

    def changes(self, instance: Instance) -> PastChanges:
        """The history up to the instance's commit; none where only its tree is there."""
        repository = self._repository(instance.repo)
        if repository is None:
            return NO_CHANGES
        log = subprocess.run(
            ["git", "-C", str(repository), *LOG, instance.base_commit], capture_output=True, check=False
        )
        return PastChanges(parse_changes(log.stdout))

    def _repository(self, repo: str) -> Path | None:
        if self._repos is None:
            return None
        name = repo.rpartition("/")[2]
        ways = [self._repos / way for way in (name, f"{name}.git", repo)]
        return next((way for way in ways if (way / ".git").exists() or (way / "HEAD").is_file()), None)


def _in_git(repository: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    git = ["git", "-C", str(repository)]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "-l", commit], capture_output=True, check=True).stdout
    entries: list[tuple[str, bytes]] = []
    for line in listed.split(b"\0")[:-1]:
        facts, _, raw = line.partition(b"\t")
        _, kind, name, size = facts.split()
        # A partial clone has no size for what it left out.
        if kind == b"blob" and size.isdigit() and int(size) <= _MAX_BYTES:
            entries.append((os.fsdecode(raw), name))
    wanted = b"".join(name + b"\n" for _, name in entries)
    found = subprocess.run([*git, "cat-file", "--batch"], input=wanted, capture_output=True, check=True).stdout
    position = 0
    for path, _ in entries:
        end = found.index(b"\n", position)
        length = int(found[position:end].rsplit(b" ", 1)[1])
        yield path, found[end + 1 : end + 1 + length]
        position = end + length + 2


def _in_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MAX_BYTES:
            yield file.relative_to(folder).as_posix(), file.read_bytes()


def candidates(files: Mapping[str, bytes], *, whole: bool) -> dict[str, bytes]:
    """The files that may be named: source without tests, or all the text there is."""
    texts = {path: text for path, text in files.items() if b"\0" not in text[:8192]}
    if whole:
        return texts
    return {path: text for path, text in texts.items() if Path(path).suffix in SOURCE and not is_test(path)}


def indexed(full_text: FullText, files: Mapping[str, bytes]) -> None:
    """Put files in, with the names that a regular expression sees defined."""
    full_text.add(
        Document(path=path, text=text, names=[name.decode() for name in _DEFINITION.findall(text)])
        for path, text in files.items()
    )
    full_text.commit(1)
    full_text.release()


def plain(full_text: FullText, question: str, changes: PastChanges) -> list[str]:
    """BM25 over whole files with split identifiers, each word as often as the question has it."""
    counted: Counter[str] = Counter()
    for word in re.findall(r"[^\W_]+", question):
        pieces = parts(word)
        counted.update(pieces if len(pieces) == 1 else (word.lower(), *pieces))
    terms = [Term(field="content", word=word, weight=float(count)) for word, count in counted.items()]
    return [hit.path for hit in full_text.search(terms, limit=max(_TOPS))]


def by_words(full_text: FullText, question: str, changes: PastChanges) -> list[str]:
    """The ranking under test without the history."""
    return ranked(full_text, question, NO_CHANGES)


def ranked(full_text: FullText, question: str, changes: PastChanges) -> list[str]:
    """The ranking under test."""
    return [found.path for found in rank(full_text, question[:MAX_QUESTION], limit=max(_TOPS), changes=changes)]


def title_only(full_text: FullText, question: str, changes: PastChanges) -> list[str]:
    """The same with the first line alone, as a person would type it."""
    return ranked(full_text, question.strip().partition("\n")[0], changes)


Mode = Callable[[FullText, str, PastChanges], list[str]]
MODES: Mapping[str, Mode] = {
    "plain BM25": plain,
    "ranked, words alone": by_words,
    "ranked": ranked,
    "ranked, title only": title_only,
}


def answered(mode: Mode, full_text: FullText, instance: Instance, changes: PastChanges) -> Answer:
    """Ask once and look where the right file is."""
    began = time.perf_counter()
    paths = mode(full_text, instance.problem_statement, changes)
    took_ms = (time.perf_counter() - began) * 1000
    place = min((paths.index(path) + 1 for path in instance.files if path in paths), default=_MISSED)
    return Answer(instance=instance, place=place, took_ms=took_ms)


def row(name: str, answers: Sequence[Answer]) -> list[str]:
    """The figures of some answers."""
    tops = [f"{sum(answer.place <= top for answer in answers) / len(answers):.2f}" for top in _TOPS]
    times = sorted(answer.took_ms for answer in answers)
    middle, late = times[len(times) // 2], times[len(times) * 95 // 100]
    return [name, str(len(answers)), *tops, f"{middle:.1f}", f"{late:.1f}"]


def groups(instances: Sequence[Instance]) -> Iterator[tuple[str, Callable[[Instance], bool]]]:
    """What figures are given for: each repository with enough issues, by half, and everything."""
    for repo, count in Counter(instance.repo for instance in instances).most_common():
        if count >= 20:
            yield repo, lambda instance, repo=repo: instance.repo == repo  # type: ignore[misc]  # the default binds it
            for half in "AB":
                yield (
                    f"{repo}, half {half}",
                    lambda instance, repo=repo, half=half: instance.repo == repo and instance.half == half,  # type: ignore[misc]
                )
    yield "all", lambda instance: True


def main() -> None:
    """Index each instance's tree, ask in every mode, and print the share of right files by group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines: instance_id, repo, base_commit, …, files")
    parser.add_argument("--repos", type=Path, help="folder with git repositories: NAME, NAME.git or OWNER/NAME")
    parser.add_argument(
        "--trees", type=Path, help="folder with unpacked trees and trees.json: {instance or commit: folder}"
    )
    parser.add_argument("--only", default="", help="instances whose repository has this in its name")
    parser.add_argument("--whole", action="store_true", help="candidates are all files, tests and docs too")
    options = parser.parse_args()
    repositories = Repositories(repos=options.repos, trees=options.trees)
    rows = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    instances = [
        Instance(**{**found, "files": tuple(found["files"])}) for found in rows if options.only in found["repo"]
    ]
    answers: dict[str, list[Answer]] = {mode: [] for mode in MODES}
    left_out: list[str] = []
    read = stored = 0
    cpu = 0.0
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        print(machine(Path(name)))
        for instance in instances:
            files = repositories.files(instance)
            if files is None:
                left_out.append(instance.instance_id)
                continue
            chosen = candidates(files, whole=options.whole)
            full_text = FullText(Path(name) / instance.instance_id)
            with Stopwatch() as watch:
                indexed(full_text, chosen)
            read, cpu = read + sum(map(len, chosen.values())), cpu + watch.cpu
            stored += sum(file.stat().st_size for file in (Path(name) / instance.instance_id).iterdir())
            changes = repositories.changes(instance)
            for mode, ask in MODES.items():
                answers[mode].append(answered(ask, full_text, instance, changes))
            full_text.close()
    if not answers["ranked"]:
        raise SystemExit("no instance could be had: name the repositories with --repos, or trees with --trees")
    print(
        f"{read / 1e6 / cpu:.0f} MB/CPU-s indexed, names by regular expression; {stored / read:.3f} bytes kept a byte"
    )
    figures = []
    for group, belongs in groups([answer.instance for answer in answers["ranked"]]):
        for mode, given in answers.items():
            figures.append(row(f"{group}: {mode}", [answer for answer in given if belongs(answer.instance)]))
    print(table(["", "issues", *(f"top {top}" for top in _TOPS), "p50 ms", "p95 ms"], figures))
    if left_out:
        print(f"left out, their commit is not there: {', '.join(left_out)}")


if __name__ == "__main__":
    main()
