"""A repository and an agent that works in it: what the pages are looked at with."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from tests.harness import Server, git, make_repo, until
from tests.surfaces.mcp.clients import connected

EVIL = "<img src=x onerror=alert(1)>"

_FILES = {
    "README.md": "# shop\n\nPrices, taxes and carts.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.2.0"\n\n[project.scripts]\nshop = "shop.cli:main"\n',
    "shop/__init__.py": '"""A small shop."""\n',
    "shop/price.py": (
        '"""What things cost."""\n\nfrom shop.tax import rate\n\n\ndef net(cents: int) -> int:\n'
        '    """Without tax."""\n'
        "    return cents\n\n\ndef gross(cents: int, country: str) -> int:\n"
        '    """With the tax of a country."""\n    return round(net(cents) * (1 + rate(country)))\n'
    ),
    "shop/tax.py": (
        '"""Taxes by country."""\n\nRATES = {"de": 0.19, "fr": 0.2, "ch": 0.081}\n\n\n'
        "def rate(country: str) -> float:\n"
        '    """The tax rate; unknown countries are an error."""\n    return RATES[country]\n'
    ),
    "shop/cart.py": (
        "from dataclasses import dataclass, field\n\nfrom shop.price import gross\n\n\n@dataclass\nclass Cart:\n"
        '    """What somebody wants to buy."""\n\n    country: str\n'
        "    items: list[int] = field(default_factory=list)\n\n"
        "    def add(self, cents: int) -> None:\n        self.items.append(cents)\n\n    def total(self) -> int:\n"
        "        return sum(gross(cents, self.country) for cents in self.items)\n"
    ),
    "shop/cli.py": (
        "from shop.cart import Cart\n\n\ndef main() -> None:\n    cart = Cart('de')\n    cart.add(1000)\n"
        "    print(cart.total())\n\n\nif __name__ == '__main__':\n    main()\n"
    ),
    "tests/test_price.py": (
        "from shop.price import gross\n\n\ndef test_gross() -> None:\n    assert gross(1000, 'de') == 1190\n"
    ),
    "web/cart.ts": "export function total(items: number[]): number {\n  return items.reduce((a, b) => a + b, 0);\n}\n",
    "docs/taxes.md": "# Taxes\n\n| country | rate |\n|---|---|\n| de | 19 % |\n",
    "assets/logo.bin": "\0\1\2" * 200,
    f"odd/{EVIL.replace('/', '_')}.md": f"# {EVIL}\n",
}


def repository(folder: Path) -> Path:
    """A small shop with a history."""
    repo = make_repo(folder, _FILES)
    (repo / "shop/tax.py").write_text(_FILES["shop/tax.py"].replace("0.081", "0.077"))
    git(repo, "commit", "--all", "--quiet", "--message", f"Swiss rate {EVIL}")
    return repo


async def work(server: Server) -> None:
    """What an agent does on an ordinary morning: look, change, break, be refused, ask."""
    async with connected(server, toolset="all", name="claude-code") as agent:
        call = agent.call_tool
        await call("map_repo", {})
        await call("search", {"query": "rate", "mode": "literal"})
        await call("read_files", {"paths": ["shop/tax.py", "shop/price.py"]})
        await call("explain_symbol", {"symbol": "gross"})
        swiss = [{"path": "shop/tax.py", "old_text": '"ch": 0.077', "new_text": '"ch": 0.081'}]
        await call("write_files", {"edits": swiss})
        cart = [
            {
                "path": "shop/cart.py",
                "old_text": "self.items.append(cents)",
                "new_text": "self.items.append(int(cents))",
            },
            {"path": "docs/taxes.md", "old_text": "19 % |\n", "new_text": "19 % |\n| ch | 8.1 % |\n"},
        ]
        await call("write_files", {"edits": cart})
        await call("read_files", {"paths": ["shop/nowhere.py"]})
        await call("search", {"query": EVIL, "mode": "literal"})
        await call("git_status", {})
        await call("git_diff", {})
        await call("run_bash", {"command": "grep -c def shop/*.py && echo done"})
        await call("git_discard", {"paths": ["docs/taxes.md"]})
        await call("run_bash", {"command": f"echo '{EVIL}'"})
    async with connected(server, toolset="all", name="cursor") as agent:
        await agent.call_tool("search", {"query": "where is the tax of a country looked up", "mode": "ranked"})
        await agent.call_tool("semantic_diff", {"base": "HEAD~1"})
        await agent.call_tool("search", {"query": "cart", "mode": "semantic"})


def decide(server: Server) -> None:
    """A person's answers: one yes, one no, the third is left open."""
    waiting = server.call("approval.list", status="PENDING")["result"]
    assert isinstance(waiting, dict)
    begun = server.call("ledger.verify")["result"]
    assert isinstance(begun, dict)
    for action in waiting["items"]:
        if action["tool"] == "git.discard":
            server.call("approval.reject", action_id=action["action_id"], reason=f"keep the table {EVIL}")
        elif "grep" in action["deterministic_summary"]:
            server.call("approval.approve", action_id=action["action_id"])
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


def busiest(server: Server) -> str:
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
    "task": lambda server: "/dashboard/tasks/" + busiest(server),
}


def play(server: Server) -> None:
    """The whole morning."""
    with ThreadPoolExecutor(1) as thread:
        # A browser that is driven from here has an event loop in this thread already.
        thread.submit(lambda: asyncio.run(work(server))).result()
    decide(server)
