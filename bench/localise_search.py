"""Issue to file and function through `search`: its default mode and others. `python -m bench.localise_search`.

Instances are those of `bench.localise`; where one has the `patch` of its fix, the functions that it changed count, too.
"""

import argparse
import asyncio
import json
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.agent_replay.outline import definitions, innermost
from bench.localise import SOURCE
from bench.measure import machine, table
from bench.retrieval.score import interval
from bench.scratch import Ask, asking
from codeplane.index.path_kinds import is_test

_MODES = ("auto", "ranked", "hybrid")
_TOPS = (1, 5, 10)
_ASKED = 60
_FOR_SEC = 300.0
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the first right file and the first right function came; 0 for nowhere, None where none is known."""

    repo: str
    mode: str
    file: int
    function: int | None


def _right_functions(root: Path, patch: str) -> set[tuple[str, str]]:
    """The functions on whose lines a patch changes something, by their heads and indentation."""
    found: set[tuple[str, str]] = set()
    path, number = "", 0
    for row in patch.split("\n"):
        if row.startswith("--- "):
            path = row[4:].strip().removeprefix("a/")
        elif head := _HUNK.match(row):
            number = int(head[1])
        elif row.startswith(("-", "+")) and not row.startswith("+++"):
            file = root / path
            if file.is_file() and not is_test(path):
                found.add((path, _function(file, path, number)))
            number += row.startswith("-")
        elif row.startswith(" ") or not row:
            number += 1
    return {(path, name) for path, name in found if name}


async def _complete(ask: Ask, vectors: bool) -> None:
    until = time.monotonic() + _FOR_SEC
    asked = [("definitions", "main"), ("ranked", "main entry point"), *([("semantic", "main")] if vectors else [])]
    for mode, query in asked:
        while time.monotonic() < until:
            answer = (await ask("search", query=query, mode=mode, limit=1, fresh="strict")).get("result")
            if isinstance(answer, dict) and not answer.get("partial"):
                break


async def _play(root: Path, instances: Sequence[dict[str, Any]], modes: Sequence[str]) -> list[Place]:
    places: list[Place] = []
    _check_out(root, instances[0]["base_commit"])
    async with asking(root) as ask:
        for instance in instances:
            _check_out(root, instance["base_commit"])
            await _complete(ask, "hybrid" in modes)
            functions = _right_functions(root, instance.get("patch", ""))
            for mode in modes:
                answer = (await ask("search", query=instance["problem_statement"], mode=mode, limit=_ASKED))["result"]
                assert isinstance(answer, dict)
                hits = [
                    (hit["path"], hit["line"])
                    for hit in answer["results"]
                    if Path(hit["path"]).suffix in SOURCE and not is_test(hit["path"])
                ]
                shown = [(path, _function(root / path, path, line)) for path, line in hits] if functions else []
                places.append(
                    Place(
                        repo=instance["repo"],
                        mode=mode,
                        file=_first([path in instance["files"] for path, _ in hits]),
                        function=_first([each in functions for each in shown]) if functions else None,
                    )
                )
    return places


def _function(file: Path, path: str, line: int) -> str:
    holder = innermost(definitions(path, file.read_text("utf-8", "replace")), line)
    return holder.name if holder is not None else ""


def _first(right: Sequence[bool]) -> int:
    return right.index(True) + 1 if True in right else 0


def _check_out(root: Path, commit: str) -> None:
    git = ["git", "-C", str(root)]
    # A mirror may lack the content of large files, which git says and goes on.
    subprocess.run([*git, "checkout", "--quiet", "--force", "--detach", commit], check=False, capture_output=True)
    at = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True).stdout.decode().strip()
    if at != commit:
        raise SystemExit(f"{root.name}: {commit} cannot be checked out")


def _clone(repos: Path, repo: str, folder: Path) -> Path:
    name = repo.rpartition("/")[2]
    source = next(repos / way for way in (name, f"{name}.git", repo) if (repos / way).exists())
    root = folder / repo.replace("/", "+")
    if not root.exists():
        command = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(source.resolve()), str(root)]
        subprocess.run(command, check=True)
    return root


def _rows(name: str, places: Sequence[Place], modes: Sequence[str]) -> list[list[str]]:
    rows = []
    for mode in modes:
        own = [place for place in places if place.mode == mode]
        known = [place.function for place in own if place.function is not None]
        files = [_share([place.file for place in own], top) for top in _TOPS]
        functions = [_share(known, top) if known else "–" for top in _TOPS]
        rows.append([f"{name}: {mode}", str(len(own)), *files, str(len(known)), *functions])
    return rows


def _share(places: Sequence[int], top: int) -> str:
    mean, low, high = interval([float(0 < place <= top) for place in places])
    return f"{mean:.3f} ({low:.2f}–{high:.2f})"


def main() -> None:
    """Play the issues of each repository on one checkout, and print the shares by repository and mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines: instance_id, repo, base_commit, …, files")
    parser.add_argument("--repos", type=Path, required=True, help="folder with git repositories: NAME, NAME.git")
    parser.add_argument("--folder", type=Path, required=True, help="for checkouts, kept between runs")
    parser.add_argument("--modes", nargs="+", default=_MODES)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    by_repo: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in options.data.read_text(encoding="utf-8").splitlines():
        instance = json.loads(line)
        by_repo[instance["repo"]].append(instance)
    print(machine(options.folder), flush=True)
    places: list[Place] = []
    rows: list[list[str]] = []
    for repo, instances in by_repo.items():
        root = _clone(options.repos, repo, options.folder)
        own = asyncio.run(_play(root, instances, options.modes))
        rows += (added := _rows(repo, own, options.modes))
        places += own
        print("\n".join(" ".join(row) for row in added), flush=True)
    head = ["", "issues", *(f"file {top}" for top in _TOPS), "issues", *(f"function {top}" for top in _TOPS)]
    others = [place for place in places if place.repo != "django/django"]
    rows += _rows("all", places, options.modes) + _rows("all but Django", others, options.modes)
    print(table(head, rows))


if __name__ == "__main__":
    main()
