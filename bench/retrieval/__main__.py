"""The public cases of Agent Retrieval Bench, scored with intervals: `python -m bench.retrieval play`, then `report`.

`--bench` is a clone of the benchmark's repository, `--repos` a folder with git repositories NAME.git or NAME.
"""

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.measure import machine, table
from bench.retrieval.baselines import Bm25, RepoMap
from bench.retrieval.cases import FILES, Case, read_cases
from bench.retrieval.score import Score, in_budget, interval, recall, reciprocal_rank
from bench.scratch import Ask, asking

_MAX_BYTES = 400_000
_METHODS = ("context_for", "search ranked", "BM25", "RepoMap")
_FOR_SEC = 600.0


def _checkout(repo: str, repos: Path, folder: Path) -> Path | None:
    """A checkout with its history, kept between runs; None if the repository is not there."""
    name = repo.rpartition("/")[2]
    source = next((repos / way for way in (f"{name}.git", name) if (repos / way).exists()), None)
    root = folder / repo.replace("/", "+")
    if root.exists() or source is None:
        return root if root.exists() else None
    half_made = root.with_suffix(".part")
    command = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(source.resolve()), str(half_made)]
    subprocess.run(command, check=True)
    half_made.rename(root)
    return root


def _move(root: Path, commit: str) -> bool:
    """Check a commit out; False if it cannot be had."""
    environment = {**os.environ, "GIT_LFS_SKIP_SMUDGE": "1"}
    command = ["git", "-C", str(root), "checkout", "--quiet", "--force", "--detach", commit]
    return not subprocess.run(command, env=environment, capture_output=True, check=False).returncode


def _in_order(root: Path, commits: Collection[str]) -> list[str]:
    """Commits by when they were made, so that from one to the next little changes; those that are not there last."""
    when = {}
    for commit in commits:
        command = ["git", "-C", str(root), "show", "--no-patch", "--format=%ct", commit]
        shown = subprocess.run(command, capture_output=True, check=False, text=True)
        when[commit] = int(shown.stdout.split()[-1]) if not shown.returncode else 1 << 60
    return sorted(commits, key=lambda commit: (when[commit], commit))


def _texts(root: Path) -> dict[str, str]:
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True).stdout
    texts: dict[str, str] = {}
    for name in listed.split(b"\0")[:-1]:
        file = root / os.fsdecode(name)
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MAX_BYTES:
            raw = file.read_bytes()
            if b"\0" not in raw[:8192]:
                texts[os.fsdecode(name)] = raw.decode("utf-8", "replace")
    return texts


async def _complete(ask: Ask) -> None:
    """Wait until everything is indexed."""
    until = time.monotonic() + _FOR_SEC
    await _result(ask, "search", query="main", mode="literal", fresh="strict", limit=1)
    for mode, query in (("definitions", "main"), ("ranked", "main entry point")):
        while time.monotonic() < until:
            if not (await _result(ask, "search", query=query, mode=mode, limit=1)).get("partial"):
                break


async def _result(ask: Ask, operation: str, **arguments: object) -> dict[str, Any]:
    found = (await ask(operation, **arguments)).get("result")
    return found if isinstance(found, dict) else {}


async def _ours(ask: Ask, case: Case) -> dict[str, tuple[list[str], bool, float]]:
    found = await _result(ask, "context_for", **case.arguments(), limit=20, budget=1_000_000)
    files = [file["path"] for file in found["files"]]
    tests = {"tests": "only"} if case.kind == "change to tests" else {}
    searched = await _result(ask, "search", query=case.text, mode="ranked", limit=20, **tests)
    hits = list(dict.fromkeys(hit["path"] for hit in searched["results"]))
    return {"context_for": (files, bool(files), found["fit"]), "search ranked": (hits, bool(hits), 0.0)}


def _score(
    case: Case, method: str, ranked: Sequence[str], answered: bool, fit: float, texts: Mapping[str, str]
) -> Score:
    known = {path.partition(":")[0] for path in case.given}
    files = [path for path in ranked if path not in known]
    scores = (
        {
            "recall_5": recall(case.right, files, 5),
            "recall_20": recall(case.right, files, 20),
            "reciprocal_rank": reciprocal_rank(case.right, files),
            "in_budget": in_budget(case.right, files, texts.get),
        }
        if case.right
        else {}
    )
    return Score(
        case_id=case.case_id,
        kind=case.kind,
        repo=case.repo,
        half=case.half,
        is_natural=case.is_natural,
        method=method,
        answered=answered,
        fit=fit,
        **scores,
    )


async def _play(root: Path, by_commit: Mapping[str, Sequence[Case]], options: argparse.Namespace, until: float) -> None:
    """Play the cases of a repository in one plane, which follows the checkout from commit to commit."""
    first, *_ = order = _in_order(root, by_commit)
    if not _move(root, first):
        print(f"left out, the commits are not there: {root.name}")
        return
    async with asking(root) as ask:
        for commit in order:
            if time.monotonic() > until:
                return
            if not _move(root, commit):
                print(f"left out, the commit is not there: {root.name} {commit}")
                continue
            await _complete(ask)
            cases, texts = by_commit[commit], _texts(root)
            scores: list[Score] = []
            for case in cases:
                ours = await _ours(ask, case)
                scores += [_score(case, method, *found, texts) for method, found in ours.items()]
            if not options.ours:
                scores += _play_baselines(cases, texts)
            with options.results.open("a") as out:
                out.writelines(json.dumps(score.to_json()) + "\n" for score in scores)


def _play_baselines(cases: Sequence[Case], texts: Mapping[str, str]) -> list[Score]:
    scores: list[Score] = []
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        words, links = Bm25(Path(name), texts), RepoMap(texts)
        for case in cases:
            by_words = words.scores(case.text, 60)
            scores.append(_score(case, "BM25", list(by_words), True, 0.0, texts))
            scores.append(_score(case, "RepoMap", links.rank(case, by_words), True, 0.0, texts))
        words.close()
    return scores


def play(options: argparse.Namespace) -> None:
    """Play every case without a result."""
    known = (
        {json.loads(line)["case_id"] for line in options.results.read_text().splitlines()}
        if options.results.exists()
        else set()
    )
    by_repo: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in read_cases(options.bench):
        if case.case_id not in known and case.half in options.halves and case.kind in (options.kinds or FILES):
            by_repo[case.repo][case.commit].append(case)
    options.folder.mkdir(parents=True, exist_ok=True)
    print(machine(options.folder))
    until = time.monotonic() + options.minutes * 60
    for repo, by_commit in by_repo.items():
        if time.monotonic() > until:
            print("stopped by --minutes; run again to go on")
            break
        root = _checkout(repo, options.repos, options.folder)
        if root is None:
            print(f"left out, the repository is not there: {repo}")
            continue
        asyncio.run(_play(root, by_commit, options, until))


def report(options: argparse.Namespace) -> None:
    """Print recall, reciprocal rank and yield by kind of case, and how often nothing is said rightly."""
    scores = [Score(**json.loads(line)) for line in options.results.read_text().splitlines()]
    for half in options.halves:
        here = [score for score in scores if score.half == half]
        kinds = dict.fromkeys(score.kind for score in here)
        groups = {"all": here, "all but gin": [score for score in here if score.repo != "gin-gonic/gin"]}
        groups |= {kind: [score for score in here if score.kind == kind] for kind in kinds}
        rows = []
        for group, members in groups.items():
            for method in _METHODS:
                some = [score for score in members if score.method == method and score.kind != "no answer"]
                if some:
                    figures = [
                        interval([getattr(score, name) for score in some])
                        for name in ("recall_5", "recall_20", "reciprocal_rank", "in_budget")
                    ]
                    rows.append(
                        [f"{group}: {method}", str(len(some)), *(f"{m:.3f} ({a:.2f}–{b:.2f})" for m, a, b in figures)]
                    )
        print(f"half {half}\n" + table(["", "cases", "R@5", "R@20", "MRR", "BCY@8k"], rows))
        print(
            table(
                ["no answer", "cases", "right: nothing said, or a right file among 20", "always answering"],
                _selective(here),
            )
        )


def _selective(scores: Sequence[Score]) -> list[list[str]]:
    rows = []
    for group, negatives in (("natural", True), ("wrong repository", False), ("both", None)):
        for method in _METHODS:
            some = [
                score
                for score in scores
                if score.method == method
                and (score.kind != "no answer" or negatives is None or score.is_natural is negatives)
            ]
            right = [
                float(not score.answered)
                if score.kind == "no answer"
                else float(score.answered and score.recall_20 > 0)
                for score in some
            ]
            always = [float(score.kind != "no answer" and score.recall_20 > 0) for score in some]
            mean, low, high = interval(right)
            rows.append(
                [
                    f"{group}: {method}",
                    str(len(some)),
                    f"{mean:.3f} ({low:.2f}–{high:.2f})",
                    f"{interval(always)[0]:.3f}",
                ]
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and do what is asked."""
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=__doc__)
    steps = parser.add_subparsers(required=True)
    for name, step in (("play", play), ("report", report)):
        part = steps.add_parser(name)
        part.set_defaults(step=step)
        part.add_argument("--results", type=Path, required=True, help="JSON lines, added to")
        part.add_argument("--halves", default="AB", help="A is for looking at, B is published")
    playing = steps.choices["play"]
    playing.add_argument("--bench", type=Path, required=True, help="a clone of eyuansu62/agent-retrieval-bench")
    playing.add_argument("--repos", type=Path, required=True)
    playing.add_argument("--folder", type=Path, required=True, help="for checkouts, kept between runs")
    playing.add_argument("--ours", action="store_true", help="without the baselines, which stay as they are")
    playing.add_argument("--kinds", nargs="*", help="only these kinds of cases")
    playing.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args(arguments)
    options.step(options)


if __name__ == "__main__":
    main()
