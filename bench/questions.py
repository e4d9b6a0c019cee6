"""Questions in plain English: how often the file that answers is among the first 1 and 3. `python -m bench.questions`.

Repositories are given by path, each in a folder of the name that it has in `bench.subjects.questions`.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import machine, table
from bench.subjects.corpora import repository
from bench.subjects.questions import DEV, FRESH, HELD, Question
from bench.subjects.served import Served, serving

AIM = 0.8
_TOPS = (1, 3)
_MISSED = 10**6
# Lines that say nothing of what a file does: imports, brackets and banners.
_EMPTY = re.compile(r"^\s*(?:import\b|from\b.*\bimport\b|use |#include\b|package\b|export \{|[}\])]|$|\W+$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """At which place the first right file was, and how much was answered."""

    question: Question
    place: int
    files: int
    size: int
    empty_lines: int
    first: str


def check_out(source: Path, folder: Path) -> Path:
    """A clone with the history of a repository, or a copy of a tree without one as a repository of one commit."""
    if (source / ".git").exists() or (source / "HEAD").is_file():
        subprocess.run(["git", "clone", "--quiet", "--shared", str(source.resolve()), str(folder)], check=True)
        return folder
    return repository(source, folder).root


def asked(served: Served, question: Question, mode: str) -> Answer:
    """Ask once, and look where the right file is."""
    found = served.result("search", query=question.text, mode=mode).get("results")
    hits = [hit for hit in found if isinstance(hit, dict)] if isinstance(found, list) else []
    paths = list(dict.fromkeys(str(hit["path"]) for hit in hits))
    place = min((paths.index(path) + 1 for path in question.answers if path in paths), default=_MISSED)
    return Answer(
        question=question,
        place=place,
        files=len(paths),
        size=len(served.text("search", query=question.text, mode=mode).encode()),
        empty_lines=sum(_EMPTY.match(str(hit["snippet"])) is not None for hit in hits),
        first=paths[0] if paths else "",
    )


def row(name: str, answers: Sequence[Answer]) -> list[str]:
    """The figures of some answers."""
    count = len(answers)
    tops = [f"{sum(answer.place <= top for answer in answers) / count:.2f}" for top in _TOPS]
    shown = sum(answer.files for answer in answers)
    empty = sum(answer.empty_lines for answer in answers) / max(shown, 1)
    size = sum(answer.size for answer in answers) / count
    return [name, str(count), *tops, f"{shown / count:.1f}", f"{empty:.2f}", f"{size:.0f}"]


def misses(answers: Sequence[Answer]) -> Iterator[str]:
    """The questions whose file is not among the first."""
    for answer in answers:
        if answer.place > _TOPS[-1]:
            where = "not listed" if answer.place == _MISSED else f"place {answer.place}"
            yield f"  {where}: {answer.question.text!r}, first {answer.first}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve each repository, ask its questions in every mode, and print the share of right files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repos", type=Path, required=True, help="folder with the repositories by name, for example fd"
    )
    parser.add_argument("--modes", default="auto,ranked,hybrid")
    parser.add_argument("--half", choices=("dev", "held", "fresh", "all"), default="all")
    parser.add_argument("--misses", action="store_true", help="list the questions that were missed; never of held ones")
    options = parser.parse_args(arguments)
    modes = options.modes.split(",")
    halves = {"dev": DEV, "held": HELD, "fresh": FRESH}
    answers: dict[tuple[str, str, str], list[Answer]] = {}
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        print(machine(Path(name)))
        for half in halves if options.half == "all" else (options.half,):
            for repo, questions in halves[half].items():
                if not (options.repos / repo).is_dir():
                    print(f"left out, not there: {repo}")
                    continue
                with serving(check_out(options.repos / repo, Path(name) / repo)) as served:
                    served.wait(query="main", mode="definitions")
                    served.wait(query="where is it read", mode="semantic")
                    for mode in modes:
                        answers[half, repo, mode] = [asked(served, question, mode) for question in questions]
    figures = []
    for half in halves:
        for mode in modes:
            given = [one for (of, _, by), some in answers.items() if (of, by) == (half, mode) for one in some]
            if given:
                figures.append(row(f"{half}, {mode}", given))
    for (half, repo, mode), some in answers.items():
        if mode == modes[0]:
            figures.append(row(f"{half}, {mode}, {repo}", some))
    print(table(["", "questions", *(f"top {top}" for top in _TOPS), "files", "empty lines", "bytes"], figures))
    print(f"aim: top {_TOPS[-1]} >= {AIM}")
    if options.misses:
        for (half, repo, mode), some in answers.items():
            if half == "dev":
                print("\n".join([f"{repo}, {mode}:", *misses(some)]))


if __name__ == "__main__":
    main()
