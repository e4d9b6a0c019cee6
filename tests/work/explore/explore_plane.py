"""A plane that explores, and what is asked of it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import xxhash

from codeplane.kernel.actor import Caller
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.model_provider import ModelProvider
from codeplane.kernel.operation import Result
from codeplane.wiring.app import Plane
from tests.kernel.plane import OWNER, plane
from tests.trust.approvals.agent_calls import result

START, WATCH, STATUS = "orchestrate.explore.start", "orchestrate.explore.watch", "orchestrate.explore.status"

SHOP = {
    "README.md": "# Shop\n\nA small shop that sells carts and counts money for people who test things.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n\n[project.scripts]\nshop = "shop.cli:main"\n',
    "shop/__init__.py": "",
    "shop/cli.py": "from shop.money import Money\n\n\ndef main() -> None:\n    print(Money(1))\n",
    "shop/money.py": "class Money:\n    def __init__(self, amount: int) -> None:\n        self.amount = amount\n",
    "shop/cart.py": "from shop.money import Money\n\n\nclass Cart:\n    total = Money(0)  # TODO: taxes\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_cart():\n    assert Cart.total.amount == 0\n",
    "web/cart.ts": "export const one = 1;\nexport const two = 2;\n",
}


@dataclass
class Explored:
    """The envelopes of one exploration, in their order."""

    started: JsonObject
    envelopes: list[JsonObject]
    cursors: list[int]

    @property
    def session_id(self) -> str:
        return str(self.started["sessionId"])

    def cases(self, name: str) -> list[JsonObject]:
        """The values of one case."""
        return [value for payload in self.payloads if isinstance(value := payload.get(name), dict)]

    @property
    def payloads(self) -> list[JsonObject]:
        return [payload for envelope in self.envelopes if isinstance(payload := envelope["payload"], dict)]

    @property
    def snapshots(self) -> list[JsonObject]:
        return self.cases("planSnapshot")

    @property
    def ops(self) -> dict[str, JsonObject]:
        """The operations of the last snapshot by id."""
        ops = self.snapshots[-1]["nextOps"]
        assert isinstance(ops, list)
        return {str(op["opId"]): op for op in ops if isinstance(op, dict)}

    def results(self, kind: str) -> list[JsonValue]:
        """The decoded payloads of one kind of operation, whose checksums hold."""
        found: list[JsonValue] = []
        for value in self.cases("result"):
            payload = str(value["payload"])
            assert value["checksum"] == xxhash.xxh32_intdigest(payload.encode()), value
            assert value["schemaVersion"] == 1
            if self.ops[str(value["opId"])]["kind"] == kind:
                found.append(json.loads(payload))
        return found

    @property
    def summary(self) -> JsonObject:
        (summary,) = self.cases("completed")
        return summary

    def check_stream(self) -> None:
        """The rules that hold of every stream, whatever happens in it."""
        assert self.cursors == [*range(self.cursors[0], self.cursors[0] + len(self.cursors))]
        ids = [str(payload["eventId"]) for payload in self.payloads]
        assert [payload["prevEventId"] for payload in self.payloads[1:]] == ids[:-1]
        assert {payload["sessionId"] for payload in self.payloads} == {self.session_id}
        assert [envelope["id"] for envelope in self.envelopes] == ids
        numbers = [snapshot["snapshotId"] for snapshot in self.snapshots]
        assert numbers == [*range(1, len(numbers) + 1)]
        assert [snapshot["prevSnapshotId"] for snapshot in self.snapshots] == [None, *numbers[:-1]]
        assert len({snapshot["planId"] for snapshot in self.snapshots}) == 1
        before: list[JsonValue] = []
        for snapshot in self.snapshots:
            ops = snapshot["nextOps"]
            assert isinstance(ops, list) and ops[: len(before)] == before
            before = ops
        hashes = [op["opHash"] for op in self.ops.values()]
        assert len(set(hashes)) == len(hashes)


@dataclass
class ExplorePlane:
    """A running plane, and what is asked of its explorations."""

    opened: Plane
    caller: Caller = OWNER

    async def ask(self, operation: str, /, **arguments: JsonValue) -> Outcome:
        return await self.opened.conveyor.call(operation, arguments, self.caller)

    async def start(self, **arguments: JsonValue) -> JsonObject:
        return result(await self.ask(START, **arguments))

    async def status(self, session_id: JsonValue, **arguments: JsonValue) -> JsonObject:
        return result(await self.ask(STATUS, explore_id=session_id, **arguments))

    async def watch(self, started: JsonObject, *, after: int = 0) -> Explored:
        """Everything of an exploration to its end."""
        found = Explored(started, [], [])
        async for item in self.stream(started, after=after):
            if item.get("envelope") is not None:
                envelope, cursor = item["envelope"], item["cursor"]
                assert isinstance(envelope, dict) and isinstance(cursor, int)
                found.envelopes.append(envelope)
                found.cursors.append(cursor)
        return found

    async def stream(self, started: JsonObject, *, after: int = 0) -> AsyncIterator[JsonObject]:
        """The items of the stream of an exploration."""
        wanted: JsonObject = {"explore_id": started["sessionId"], "after": after}
        async for item in self.opened.conveyor.stream(WATCH, wanted, self.caller):
            if isinstance(item, Result):
                yield item.model_dump(mode="json")
            else:
                assert item.error is None, item.error

    async def explore(self, **arguments: JsonValue) -> Explored:
        """Start one and wait for its end."""
        return await self.watch(await self.start(**arguments))


@asynccontextmanager
async def explore_plane(
    root: Path,
    *settings: str,
    clock: Clock | None = None,
    models: Mapping[str, ModelProvider] | None = None,
    starts: bool = True,
    caller: Caller = OWNER,
) -> AsyncIterator[ExplorePlane]:
    """A plane whose engine and index run, as a server's do, unless it `starts` not."""
    async with plane(root, *settings, clock=clock, models=models) as opened:
        if starts:
            opened.index.start()
            opened.work.start_engine(opened.conveyor)
        yield ExplorePlane(opened, caller)
