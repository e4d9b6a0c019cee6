"""Every page of the dashboard on a ledger of a million events, two people looking: `python -m bench.dashboard`.

The ledger is made once, through the log's own append with every table, and kept in `--folder`; each run adds an hour of
work that ends now, so that figures of the last hour have something to tell. The peer is SQLite asked by itself, in this
process, for the rows that a page is about.
"""

import argparse
import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

from bench.measure import machine, table
from bench.subjects.long_history import last_hour, tell
from bench.subjects.served import Served, serving
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import prepare_home

AIM_MS, AIM_INBOX_MS = 200.0, 20.0
_CLIENTS = 2
# What was made is kept: by default all but the newest 500 tasks would be dropped within the hour.
_SETTINGS = ("retention.every_sec=1000000", "retention.tasks_max=1000000", "approvals.wait_sec=0")
_EVENTS = "SELECT * FROM events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A page, and what SQLite would be asked for it."""

    name: str
    path: str
    peer: str | None = None


@dataclass(slots=True)
class Taken:
    """What one page took: milliseconds of every load, with everybody loading, and CPU with nobody else."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    peer_ms: float | None = None
    bytes: int = 0


class Browser:
    """Somebody who is signed in, over one connection."""

    def __init__(self, port: int, link: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=300)
        self._cookie = ""
        self._connection.request("GET", link)
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        self._cookie = str(answer.headers["set-cookie"]).partition(";")[0]

    def load(self, path: str) -> tuple[float, int]:
        """Milliseconds until all of a page is there, and its bytes."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers={"cookie": self._cookie})
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, f"{path}: {answer.status} {body[:500]!r}"
        return (time.perf_counter() - began) * 1000, len(body)


def repository(folder: Path) -> Path:
    """A repository to look at: CodePlane's own sources with one commit."""
    root = folder / "shop"
    if not (root / ".git").exists():
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(
            Path(__file__).parents[1] / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
        )
        named = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
        for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "first"]):
            subprocess.run(["git", *named, *arguments], cwd=root, check=True)
    return root


def ledger(root: Path, *, events: int, pending: int) -> Path:
    """The ledger, made where it is not there yet; no half of one is ever taken for it."""
    workspace = Workspace(root=root.resolve())
    prepare_home(workspace)
    path = workspace.ledger
    if path.exists():
        return path
    made = path.with_name("making.db")
    for left in (made, made.with_name("making.db-wal"), made.with_name("making.db-shm")):
        left.unlink(missing_ok=True)
    began, cpu = time.perf_counter(), time.process_time()
    reported = asyncio.run(tell(made, events=events, pending=pending))
    made.replace(path)
    print(
        f"made {reported:,} events in {time.perf_counter() - began:.0f} s, {time.process_time() - cpu:.0f} CPU seconds"
    )
    return path


def addresses(served: Served) -> list[Address]:
    """Every page, with its common filters, further pages and things that have names of their own."""
    task = _first(served.result("task.board", limit=50, state="CLOSED_FAILED"), "results")
    longest = max(_rows(served.result("task.board", limit=100), "results"), key=lambda one: int(str(one["calls"])))
    waiting = _first(served.result("approval.list", status="PENDING"), "items")
    done = _first(served.result("approval.list", status="EXECUTED"), "items")
    call = _first(served.result("call.list", operation="write_files"), "results")
    calls, acts = "/dashboard/activity", "/dashboard/approvals"
    later = {
        "activity": _cursor(served.result("call.list", limit=30)),
        "tasks": _cursor(served.result("task.board", limit=20)),
        "approvals": _cursor(served.result("approval.list", limit=20)),
    }
    newest = "ORDER BY position DESC LIMIT"
    return [
        Address(name="Overview", path="/dashboard",
                peer=f"{_EVENTS} WHERE type = 'call.finished' {newest} 1000"),
        Address(name="Overview, the part that lives", path="/dashboard/overview"),
        Address(name="badge", path="/dashboard/badge", peer="SELECT count(*) FROM actions WHERE status = 'PENDING'"),
        Address(name="Activity", path=calls,
                peer=f"{_EVENTS} WHERE type IN ('call.finished', 'call.refused') {newest} 30"),
        Address(name="Activity, second page", path=f"{calls}?cursor={later['activity']}"),
        Address(name="Activity, failed", path=f"{calls}?outcome=failed",
                peer=f"{_EVENTS} WHERE type = 'call.finished' AND payload ->> 'status' != 'ok' {newest} 30"),
        Address(name="Activity, one operation", path=f"{calls}?operation=test.run",
                peer=f"{_EVENTS} WHERE type = 'call.finished' AND payload ->> 'operation' = 'test.run' {newest} 30"),
        Address(name="Activity, an error that never was", path=f"{calls}?outcome=SESSION_CLOSED",
                peer=f"{_EVENTS} WHERE type = 'call.finished' AND payload ->> 'status' = 'SESSION_CLOSED' {newest} 30"),
        Address(name="Activity, words", path=f"{calls}?text=ledger+epoch"),
        Address(name="Activity, one client, a day", path=f"{calls}?client=cursor&age=24h"),
        Address(name="Activity, one task", path=f"{calls}?task={task['task_id']}",
                peer=f"{_EVENTS} WHERE task_id = '{task['task_id']}' {newest} 30"),
        Address(name="Activity, one session", path=f"{calls}?session={task['session_id']}"),
        Address(name="a call", path=f"/dashboard/calls/{call['key']}"),
        Address(name="a call that was approved", path=f"/dashboard/calls/{done['action_id']}"),
        Address(name="Tasks", path="/dashboard/tasks",
                peer="SELECT * FROM tasks JOIN sessions USING (session_id) ORDER BY position DESC LIMIT 20"),
        Address(name="Tasks, second page", path=f"/dashboard/tasks?cursor={later['tasks']}"),
        Address(name="Tasks, failed", path="/dashboard/tasks?state=CLOSED_FAILED"),
        Address(name="Tasks, open", path="/dashboard/tasks?state=OPEN"),
        Address(name="a task", path=f"/dashboard/tasks/{task['task_id']}"),
        Address(name="a long task", path=f"/dashboard/tasks/{longest['task_id']}"),
        Address(name="Approvals", path=acts,
                peer=f"SELECT * FROM actions WHERE status = 'PENDING' {newest} 50"),
        Address(name="Approvals, second page", path=f"{acts}?cursor={later['approvals']}"),
        Address(name="Approvals, rejected", path=f"{acts}?status=REJECTED"),
        Address(name="an approval", path=f"{acts}/{waiting['action_id']}"),
        Address(name="Repository", path="/dashboard/repository"),
        Address(name="Repository, a folder", path="/dashboard/repository?folder=src/codeplane"),
        Address(name="Repository, search", path="/dashboard/repository?q=last_position&mode=literal"),
        Address(name="Repository, a file", path="/dashboard/repository/file?path=src/codeplane/ledger/writer.py"),
        Address(name="Repository, a symbol", path="/dashboard/repository/symbol?name=SqliteLog"),
        Address(name="Changes", path="/dashboard/changes"),
        Address(name="Changes, two states", path="/dashboard/changes/compare?base=HEAD"),
        Address(name="Changes, test runs", path="/dashboard/changes/tests"),
        Address(name="Ledger", path="/dashboard/ledger", peer=f"{_EVENTS} {newest} 50"),
        Address(name="Ledger, from the beginning", path="/dashboard/ledger?after=1"),
        Address(name="Ledger, back from the middle", path="/dashboard/ledger?before=500000",
                peer=f"{_EVENTS} WHERE position < 500000 {newest} 50"),
        Address(name="Ledger, a common type", path="/dashboard/ledger?type=call.finished"),
        Address(name="Ledger, a rare type", path="/dashboard/ledger?type=policy.loaded",
                peer=f"{_EVENTS} WHERE type = 'policy.loaded' {newest} 50"),
        Address(name="Ledger, a type there is not", path="/dashboard/ledger?type=job.failed",
                peer=f"{_EVENTS} WHERE type = 'job.failed' {newest} 50"),
        Address(name="Ledger, many streams", path="/dashboard/ledger?stream=task/*",
                peer=f"{_EVENTS} WHERE stream GLOB 'task/*' {newest} 50"),
        Address(name="Ledger, few streams", path="/dashboard/ledger?stream=sys*",
                peer=f"{_EVENTS} WHERE stream GLOB 'sys*' {newest} 50"),
        Address(name="Ledger, one stream", path="/dashboard/ledger?stream=mutations",
                peer=f"{_EVENTS} WHERE stream = 'mutations' {newest} 50"),
        Address(name="Ledger, one task", path=f"/dashboard/ledger?task_id={task['task_id']}",
                peer=f"{_EVENTS} WHERE task_id = '{task['task_id']}' {newest} 50"),
        Address(name="Ledger, a task asked again", path=f"/dashboard/ledger/replay/{task['task_id']}"),
        Address(name="Ledger, a further step of it", path=f"/dashboard/ledger/replay/{task['task_id']}/step?skip=1"),
        Address(name="Trust", path="/dashboard/trust", peer=f"SELECT * FROM audit {newest} 20"),
        Address(name="Settings", path="/dashboard/settings"),
    ]  # fmt: skip


def measured(served: Served, port: int, pages: Sequence[Address], rounds: int) -> dict[str, Taken]:
    """Load every page in turn, several people at once, and once more alone for its CPU."""
    taken = {page.name: Taken() for page in pages}
    browsers = [Browser(port, str(served.result("dashboard.link")["path"])) for _ in range(_CLIENTS)]
    for page in pages:
        taken[page.name].bytes = browsers[0].load(page.path)[1]

    def look(number: int) -> None:
        # Each begins elsewhere, so that they are not on the same page all the time.
        shift = number * len(pages) // _CLIENTS
        for _ in range(rounds):
            for page in (*pages[shift:], *pages[:shift]):
                taken[page.name].wall_ms.append(browsers[number].load(page.path)[0])

    with ThreadPoolExecutor(_CLIENTS) as people:
        list(people.map(look, range(_CLIENTS)))
    for page in pages:
        before = served.cpu()
        for _ in range(rounds):
            browsers[0].load(page.path)
        taken[page.name].cpu_ms = (served.cpu() - before) / rounds * 1000
    return taken


def asked_alone(path: Path, pages: Sequence[Address]) -> dict[str, float]:
    """Milliseconds of SQLite itself for what pages are about: the middle of three, rows fetched and dropped."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    found: dict[str, float] = {}
    for page in pages:
        if page.peer is not None:
            times = []
            for _ in range(3):
                began = time.perf_counter()
                connection.execute(page.peer).fetchall()
                times.append((time.perf_counter() - began) * 1000)
            found[page.name] = median(times)
    connection.close()
    return found


def inbox(served: Served, limit: int, pages: int) -> tuple[int, list[float], float]:
    """What waits for a person, page after page through the door: items, milliseconds of each page, CPU of a page."""
    times: list[float] = []
    # The connection of before was left alone for too long.
    served = Served(process=served.process, port=served.port, root=served.root)
    items, before = 0, served.cpu()
    while len(times) < pages:
        cursor: JsonObject = {}
        while True:
            began = time.perf_counter()
            found = served.result("approval.list", status="PENDING", limit=limit, **cursor)
            times.append((time.perf_counter() - began) * 1000)
            items += len(_rows(found, "items"))
            following = _cursor(found)
            if not following or len(times) >= pages:
                break
            cursor = {"cursor": following}
    return items, times, (served.cpu() - before) / len(times) * 1000


def ready(port: int) -> bool:
    """Whether the server says that all of it works."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    finally:
        connection.close()


def started(root: Path, rounds: int) -> str:
    """How long `cpl up` takes until it is ready, on this ledger and on an empty one."""
    reported = []
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        empty = repository(Path(name))
        for what, where in (("this ledger", root), ("an empty one", empty)):
            walls, cpus = [], []
            for _ in range(rounds):
                began = time.perf_counter()
                with serving(where, *_SETTINGS) as served:
                    while not ready(served.port):
                        time.sleep(0.01)
                    walls.append(time.perf_counter() - began)
                    cpus.append(served.cpu())
            reported.append(f"{what} {median(walls):.2f} s ({median(cpus):.2f} CPU seconds)")
    return ", ".join(reported)


def percentile(values: Sequence[float], percent: int) -> float:
    """One of the values: that of the given place among a hundred."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def show(pages: Sequence[Address], taken: dict[str, Taken], alone: dict[str, float]) -> int:
    """The table of pages; gives how many were too slow."""
    rows, slow = [], 0
    for page in pages:
        one = taken[page.name]
        p95 = percentile(one.wall_ms, 95)
        slow += p95 > AIM_MS
        rows.append(
            [
                page.name + (" <-- over the aim" if p95 > AIM_MS else ""),
                f"{percentile(one.wall_ms, 50):.1f}",
                f"{p95:.1f}",
                f"{max(one.wall_ms):.1f}",
                f"{one.cpu_ms:.1f}",
                f"{alone[page.name]:.1f}" if page.name in alone else "",
                f"{one.bytes / 1000:.0f}",
            ]
        )
    print(table(["page", "p50 ms", "p95 ms", "max ms", "CPU ms", "SQLite alone ms", "kB"], rows))
    return slow


def main() -> int:
    """Make what is missing, start, look at everything, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the ledger is kept; made once, about 1.5 GB")
    parser.add_argument("--events", type=int, default=1_000_000, help="how many, where the ledger is not there yet")
    parser.add_argument("--pending", type=int, default=10_000, help="approvals that nobody answered, likewise")
    parser.add_argument("--rounds", type=int, default=20, help="loads of each page by each of the two")
    parser.add_argument("--starts", type=int, default=3, help="starts of the server; 0 leaves them out")
    parser.add_argument("--only", default="", help="pages whose name holds this")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    root = repository(options.folder)
    path = ledger(root, events=options.events, pending=options.pending)
    position = asyncio.run(last_hour(path))
    print(machine(root))
    print(f"{position:,} events, {path.stat().st_size / 1e6:,.0f} MB")
    if options.starts:
        print(f"cpl up until /ready: {started(root, options.starts)}")
    with serving(root, *_SETTINGS) as served:
        served.wait(query="last_position", mode="literal")
        served.wait(query="last_position", mode="definitions")
        pages = [page for page in addresses(served) if options.only.lower() in page.name.lower()]
        taken = measured(served, served.port, pages, options.rounds)
        print(f"\n{len(pages)} pages, {_CLIENTS} people at once, {options.rounds} loads by each; CPU with one alone\n")
        slow = show(pages, taken, asked_alone(path, pages))
        every = [one for page in taken.values() for one in page.wall_ms]
        print(f"\nall pages: p50 {percentile(every, 50):.1f}, p95 {percentile(every, 95):.1f} ms (aim <= {AIM_MS:.0f})")
        for limit in (50, 100):
            items, times, cpu = inbox(served, limit, 200)
            print(
                f"approval.list through the door, pages of {limit}, {items:,} items: p50 {percentile(times, 50):.1f}, "
                f"p95 {percentile(times, 95):.1f} ms, {cpu:.1f} CPU ms a page (aim <= {AIM_INBOX_MS:.0f})"
            )
    load = os.getloadavg()[0]
    print(f"{slow} of {len(pages)} pages over {AIM_MS:.0f} ms at p95; load {load:.1f} at the end")
    return 1 if slow else 0


def _rows(found: JsonObject, name: str) -> list[JsonObject]:
    rows = found[name]
    assert isinstance(rows, list)
    return [one for one in rows if isinstance(one, dict)]


def _first(found: JsonObject, name: str) -> JsonObject:
    return _rows(found, name)[0]


def _cursor(found: JsonObject) -> str:
    pagination = found["pagination"]
    assert isinstance(pagination, dict)
    return str(pagination.get("next_cursor") or "")


if __name__ == "__main__":
    sys.exit(main())
