"""What tasks drawn from real commits cost with native tools and with CodePlane's.

`draw` writes tasks with what is right for each, `play` plays those that have no result yet, `loop` has a coding client
do them in sessions, `report` prints figures.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from bench.agent_replay.codeplane_policy import CodePlanePolicy
from bench.agent_replay.commits import draw
from bench.agent_replay.report import Cost, Played, report
from bench.agent_replay.score import score
from bench.agent_replay.shell_policy import ShellPolicy
from bench.agent_replay.tasks import Deriver, Task
from bench.agent_replay.truth import Truth, TruthTools
from bench.measure import machine
from bench.subjects.served import Served, serving


def _checkout(repo: Path, folder: Path) -> Path:
    root = folder / repo.name
    if not root.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", str(repo), str(root)], check=True)
    return root


def _reset(root: Path, commit: str) -> None:
    # `.codeplane` is left: it belongs to the server that watches the checkout.
    for arguments in (["checkout", "--quiet", "--force", commit], ["clean", "-fdq", "-e", ".codeplane"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def draw_tasks(options: argparse.Namespace) -> None:
    """Draw commits and write their tasks; repositories whose tasks are there already are passed over."""
    tools = TruthTools.of(python=options.python, node_folder=options.node_folder, gopls=shutil.which("gopls") or "")
    known = {row["repo"] for row in _rows(options.tasks)}
    each = -(-options.commits // len(options.repos))
    until = time.monotonic() + options.minutes * 60
    for repo in options.repos:
        if repo.name in known or time.monotonic() > until:
            continue
        root = _checkout(repo.resolve(), options.folder)
        made: list[Task] = []
        for commit in draw(repo.resolve(), each, options.seed):
            _reset(root, commit.parent)
            with Truth(tools, root) as truth:
                made += Deriver(commit, truth).tasks()
        with options.tasks.open("a") as out:
            out.writelines(json.dumps(task.to_json()) + "\n" for task in made)
        print(f"{repo.name}: {len(made)} tasks", flush=True)


def play_tasks(options: argparse.Namespace) -> None:
    """Play every task that has no result; a checkout is at the commit's parent, and put back after each turn."""
    known = {row["key"] for row in _rows(options.results)}
    by_repo: dict[str, list[Task]] = defaultdict(list)
    for row in _rows(options.tasks):
        task = Task.from_json(row)
        if task.key not in known:
            by_repo[task.repo].append(task)
    repos = {repo.name: repo.resolve() for repo in options.repos}
    until = time.monotonic() + options.minutes * 60
    print(machine(options.folder))
    for name, tasks in by_repo.items():
        if time.monotonic() > until:
            break
        root = _checkout(repos[name], options.folder)
        _reset(root, tasks[0].checkout)
        with serving(root) as served, options.results.open("a") as out:
            for task in tasks:
                if time.monotonic() > until:
                    break
                played, transcripts = _play(task, served)
                out.write(json.dumps(played.to_json()) + "\n")
                out.flush()
                if options.transcripts is not None:
                    with options.transcripts.open("a") as log:
                        log.write(json.dumps({"key": task.key, **transcripts}) + "\n")


def _play(task: Task, served: Served) -> tuple[Played, dict[str, list[tuple[str, str]]]]:
    costs, transcripts = {}, {}
    for side, policy in (("shell", ShellPolicy(served.root)), ("codeplane", CodePlanePolicy(served))):
        _reset(served.root, task.checkout)
        if side == "codeplane":
            served.text("search", query=task.checkout, mode="literal", fresh="strict", limit=1)
            served.wait(query="main", mode="definitions")
        answer, transcript = policy.play(task.question)
        right = score(task, answer, transcript, served.root)
        costs[side] = Cost(calls=len(transcript.calls), size=transcript.size, score=right)
        transcripts[side] = transcript.calls
    played = Played(
        key=task.key,
        repo=task.repo,
        kind=task.kind,
        language=task.language,
        shell=costs["shell"],
        codeplane=costs["codeplane"],
    )
    return played, transcripts


def loop_sessions(options: argparse.Namespace) -> None:
    """Have a coding client do all tasks of some commits, a session each, and print what that took."""
    # Clients are installed by npm when they are first asked for.
    from bench.agent_replay.clients import CLIENTS
    from bench.agent_replay.loop import play_session, report_sessions, session_tasks

    by_commit: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for row in _rows(options.tasks):
        task = Task.from_json(row)
        by_commit[task.repo, task.sha].append(task)
    # One commit of each repository after the other.
    turn: dict[str, int] = defaultdict(int)
    order: list[tuple[int, tuple[str, str]]] = []
    for key in by_commit:
        order.append((turn[key[0]], key))
        turn[key[0]] += 1
    repos = {repo.name: repo.resolve() for repo in options.repos}
    print(machine(options.folder), flush=True)
    sessions = []
    for _, key in sorted(order, key=lambda each: each[0])[: options.commits]:
        tasks = session_tasks(by_commit[key])
        root = _checkout(repos[key[0]], options.folder)
        _reset(root, tasks[0].checkout)
        with serving(root) as served, tempfile.TemporaryDirectory(prefix="codeplane-bench-") as home:

            def reset(served: Served = served, commit: str = tasks[0].checkout) -> None:
                _reset(served.root, commit)
                served.text("search", query=commit, mode="literal", fresh="strict", limit=1)
                served.wait(query="main", mode="definitions")

            sessions.append(play_session(tasks, served, CLIENTS[options.client], Path(home), reset))
        print(report_sessions(sessions[-1:]).splitlines()[2], flush=True)
    print(report_sessions(sessions))


def print_report(options: argparse.Namespace) -> None:
    """Print the figures of the tasks of a results file."""
    played = [Played.from_json(row) for row in _rows(options.results)]
    print(report(played, options.tool_list))


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and do what is asked."""
    parser = argparse.ArgumentParser(prog="bench.agent_replay", description=__doc__)
    steps = parser.add_subparsers(required=True)
    for name, step in (("draw", draw_tasks), ("play", play_tasks), ("loop", loop_sessions), ("report", print_report)):
        part = steps.add_parser(name)
        part.set_defaults(step=step)
        if name != "report":
            part.add_argument("--repos", type=Path, nargs="+", required=True, help="git repositories with history")
            part.add_argument("--folder", type=Path, required=True, help="for checkouts, kept between runs")
            part.add_argument("--minutes", type=float, default=60, help="stop after this long; run again to go on")
            part.add_argument("--tasks", type=Path, required=True)
        if name in ("play", "report"):
            part.add_argument("--results", type=Path, required=True)
    steps.choices["play"].add_argument("--transcripts", type=Path, help="write every call here, to see what costs")
    steps.choices["loop"].add_argument("--client", default="claude")
    steps.choices["loop"].add_argument("--commits", type=int, default=10)
    drawing = steps.choices["draw"]
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--commits", type=int, default=300)
    drawing.add_argument("--python", type=Path, help="a Python with pyright and griffe")
    drawing.add_argument("--node-folder", type=Path, help="a folder with typescript and typescript-language-server")
    steps.choices["report"].add_argument("--tool-list", type=int, default=12_000, help="bytes of tools/list")
    options = parser.parse_args(arguments)
    options.step(options)


if __name__ == "__main__":
    main()
