"""A repository and agents that work in it: what the pages are looked at with."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from tests.browser.shop_files import FILES
from tests.harness import Server, git, make_repo, start, until
from tests.interpreter import bare_python
from tests.surfaces.mcp.clients import connect_client

EVIL = "<img src=x onerror=alert(1)>"

_ODD = {
    f"odd/{EVIL}.md": f"# {EVIL}\n",
    "odd/test_odd.py": f"def test_markup() -> None:\n    raise ValueError({EVIL!r})\n",
}


def repository(folder: Path, *, odd: bool = True) -> Path:
    """A small shop with a history; an odd one has markup wherever names and messages can hold it."""
    repo = make_repo(folder, {**FILES, **(_ODD if odd else {})})
    price = repo / "shop/price.py"
    price.write_text(price.read_text().replace("step: int = 5", "step: int"))
    orders = repo / "shop/orders.py"
    orders.write_text(
        orders.read_text().replace('"order {self.number} is not paid"', '"order {self.number} is not paid yet"')
    )
    discount = repo / "shop/discount.py"
    discount.write_text(discount.read_text().replace("(20_000, 0.05)", "(25_000, 0.05)"))
    git(repo, "commit", "--all", "--quiet", "--message", f"Discounts begin later {EVIL if odd else ''}".strip())
    return repo


def start_server(repo: Path) -> Server:
    """A server that finds a test runner, also outside of tests."""
    path = os.pathsep.join((str(bare_python()), os.environ.get("PATH", os.defpath)))
    return start(repo, environ={"PATH": path})


async def agent_work(server: Server) -> None:
    """What an agent does on an ordinary morning: look, change, break, fix, be refused, ask."""
    async with connect_client(server, toolset="all", name="claude-code") as agent:
        call = agent.call_tool
        await call("session_create", {"description": "Switzerland raises its VAT to 8.1 %"})
        await call("map_repo", {})
        await call("search", {"query": "rate", "mode": "literal"})
        await call("read_files", {"paths": ["shop/tax.py", "shop/price.py"]})
        await call("explain_symbol", {"symbol": "gross"})
        await call("test_run", {})
        await call("write_files", {"edits": [_edit("shop/tax.py", '"ch": 0.077', '"ch": 0.81'), _SWISS_TEST]})
        await call("test_run", {})
        await call("write_files", {"edits": [_edit("shop/tax.py", '"ch": 0.81', '"ch": 0.081')]})
        await call("test_run", {})
        # The same code again: one of the tests goes both ways.
        await call("test_run", {"fresh": True})
        await call("test_run", {"failed_only": True})
        await call("write_files", {"edits": [_edit("docs/taxes.md", "Switzerland | 7.7 %", "Switzerland | 8.1 %")]})
        await call("read_files", {"paths": ["shop/vat.py"]})
        await call("git_status", {})
        await call("git_diff", {})
        await call("run_bash", {"command": "grep -c def shop/*.py && echo done"})
        await call("git_discard", {"paths": ["docs/taxes.md"]})
        await call("session_close", {"reason": "success"})


_SWISS_TEST: JsonObject = {"path": "tests/test_price.py", "old_text": '("ch", 1077)', "new_text": '("ch", 1081)'}


def _edit(path: str, old: str, new: str) -> JsonObject:
    return {"path": path, "old_text": old, "new_text": new}


async def more_work(server: Server) -> None:
    """Another agent looks around, stumbles over the same thing twice, and asks for something that destroys."""
    async with connect_client(server, toolset="all", name="cursor") as agent:
        call = agent.call_tool
        await call("session_create", {"description": "Explain how discounts are applied"})
        await call("search", {"query": "where is the discount of a cart worked out", "mode": "ranked"})
        await call("semantic_diff", {"base": "HEAD~1"})
        await call("read_files", {"paths": ["shop/rebate.py"]})
        await call("search", {"query": "discount", "mode": "semantic"})
        await call("write_files", {"edits": [_edit("shop/discount.py", "Less for those", "Cheaper for those")]})
        await call("read_files", {"paths": ["shop/rebate.py"]})
        await call("git_discard", {"paths": ["shop/discount.py"]})
        await call("search", {"query": "after_discount", "mode": "references"})
        await call("session_close", {"reason": "failed"})


async def last_looks(server: Server) -> None:
    """Some reading before lunch."""
    async with connect_client(server, toolset="all", name="claude-code") as agent:
        call = agent.call_tool
        await call("session_create", {"description": "Show prices in the currency of the country"})
        await call("search", {"query": "money", "mode": "definitions"})
        await call("read_files", {"paths": ["web/money.ts", "web/cart.ts"]})
        await call("search", {"query": "how are amounts formatted", "mode": "hybrid"})
        await call("explain_symbol", {"symbol": "Cart"})
        await call("git_log", {"limit": 5})
        await call("write_files", {"edits": [_edit("web/money.ts", 'currency = "EUR"', 'currency = "CHF"')]})
        await call("undo", {})
        await call("search", {"query": "currency", "mode": "literal"})
        await call("session_close", {"reason": "success"})


async def markup_calls(server: Server) -> None:
    """Markup wherever a caller can put words."""
    async with connect_client(server, toolset="all", name="odd") as agent:
        call = agent.call_tool
        await call("session_create", {"description": f"a task {EVIL}"})
        await call("search", {"query": EVIL, "mode": "literal"})
        await call("write_files", {"edits": [{"path": "odd/new.md", "content": f"{EVIL}\n"}]})
        await call("test_run", {"targets": ["odd/test_odd.py"]})
        await call("run_bash", {"command": f"echo '{EVIL}'"})


def decide(server: Server, *, reason: str) -> None:
    """A person's answers: one yes, one no."""
    waiting = server.call("approval.list", status="PENDING")["result"]
    assert isinstance(waiting, dict)
    begun = server.call("ledger.verify")["result"]
    assert isinstance(begun, dict)
    for action in waiting["items"]:
        if action["tool"] == "git.discard":
            server.call("approval.reject", action_id=action["action_id"], reason=reason)
        elif "grep" in action["deterministic_summary"]:
            server.call("approval.approve", action_id=action["action_id"], trust=True)
    # Trusted from now on: a phone, and an agent with a token of its own.
    pairing = server.client().create_pairing_code()
    server.client().pair(pairing.code, "phone")
    server.call("agent.token", agent="nightly", capabilities=["read_files", "execute_tools"])
    # Until what was approved has run; asking again and again would be all that the activity shows.
    watched: JsonObject = {"types": ["shell.finished"], "after": begun["last_position"]}
    next(iter(server.client().stream("ledger.watch", watched)))


def rows(server: Server, name: str, field: str, asked: JsonObject | None = None) -> list[dict[str, str]]:
    """What an operation lists, once it lists something."""

    def found() -> list[dict[str, str]]:
        result = server.client().call(name, asked or {})["result"]
        assert isinstance(result, dict)
        return cast(list[dict[str, str]], result[field])

    return until(found)


def busiest_task(server: Server) -> str:
    """The task in which the agent did most of its work."""
    work = [one for one in rows(server, "task.board", "results") if one["client"] == "claude-code"]
    return max(work, key=lambda one: int(one["calls"]))["task_id"]


# Pages of things that have names of their own, found when they are there.
FOUND: dict[str, Callable[[Server], str]] = {
    "approval": lambda server: (
        "/dashboard/approvals/" + rows(server, "approval.list", "items", {"status": "PENDING"})[0]["action_id"]
    ),
    "mutation": lambda server: "/dashboard/changes/" + rows(server, "mutation.list", "mutations")[0]["mutation_id"],
    "call": lambda server: (
        "/dashboard/calls/" + rows(server, "call.list", "results", {"operation": "run_bash", "outcome": "ok"})[0]["key"]
    ),
    "task": lambda server: "/dashboard/tasks/" + busiest_task(server),
    "work_item": lambda server: "/dashboard/work/" + rows(server, "work.list", "results")[0]["work_id"],
    "schedule": lambda server: "/dashboard/schedules/" + rows(server, "schedule.list", "results")[0]["schedule_id"],
    "replay": lambda server: "/dashboard/ledger/replay/" + busiest_task(server),
    "run": lambda server: (
        "/dashboard/changes/tests/"
        + next(one["run_id"] for one in rows(server, "test.history", "runs") if int(one["failed"]))
    ),
}


def play(server: Server, *, odd: bool = True) -> None:
    """The whole morning; with odd callers there is markup in everything that waits or was said."""
    _run(agent_work(server))
    decide(server, reason="the table is right, keep it" + (f" {EVIL}" if odd else ""))
    _run(more_work(server))
    if odd:
        _run(markup_calls(server))
    background_work(server, title=f"Look around {EVIL}" if odd else "Look around before the release")
    work_by_the_clock(server, name=f"Nightly {EVIL}" if odd else "Nightly tests")


def background_work(server: Server, *, title: str) -> None:
    """Work that is done, and work that used up its limit and waits."""
    steps: list[JsonObject] = [
        {"operation": "status"},
        {"operation": "map_repo"},
        {"operation": "search", "arguments": {"query": "rate", "mode": "literal"}},
    ]
    for wanted in ({"title": title}, {"title": f"{title}, in parts", "max_steps": 1}):
        server.call("work.start", steps=steps, **wanted)
    until(lambda: all(item["state"] in ("COMPLETED", "WAITING") for item in rows(server, "work.list", "results")))


def work_by_the_clock(server: Server, *, name: str) -> None:
    """A schedule for every night, and one that rests."""
    for wanted in ({"name": name, "trigger_spec": "0 3 * * *"}, {"name": "Hourly look", "trigger_spec": "0 * * * *"}):
        goal = "Run the tests, and say which fail and since when"
        asked: JsonObject = {"goal": goal, "trigger_kind": "cron", "enabled": wanted["name"] == name, **wanted}
        assert "error" not in server.call("schedule.create", **asked)


def look_again(server: Server) -> None:
    """An agent comes back, so that the newest calls are an agent's and not those of whoever asked what there is."""
    _run(last_looks(server))


@contextmanager
def running_command(server: Server) -> Iterator[None]:
    """A command that prints something and goes on until the pictures are taken."""
    compiled = 'for f in shop/*.py; do python3 -m py_compile $f && echo "compiled $f"; done'
    command = f"{compiled}; until [ -e .built ]; do sleep 1; done"
    thread = threading.Thread(
        target=lambda: server.client().call("run_bash", {"command": command, "timeout_ms": 600_000}), daemon=True
    )
    thread.start()
    rows(server, "ledger.events", "results", {"types": ["shell.output"], "newest": True, "limit": 1})
    yield


def _run(played: Coroutine[object, object, None]) -> None:
    with ThreadPoolExecutor(1) as thread:
        # A browser that is driven from here has an event loop in this thread already.
        thread.submit(lambda: asyncio.run(played)).result()
