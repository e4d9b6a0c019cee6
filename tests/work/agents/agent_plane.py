"""A plane with the tests' own outside agent, and a thread that it runs."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.agents.table import ThreadTreeTable
from codeplane.work.threads.table import ThreadTable
from tests.harness import make_repo
from tests.kernel.plane import OWNER, plane
from tests.trust.approvals.agent_calls import result
from tests.work.turns.conversation import Conversation

SCRIPT = Path(__file__).with_name("scripted_agent.py")
FILES = {"shop.py": "price = 1\n", "docs/old.md": "old\n"}
NAME = "scripted"


def scripted(*tricks: str, env: Mapping[str, str] | None = None, **settings: JsonValue) -> JsonObject:
    """The settings of the tests' own agent."""
    variables: JsonObject = {"TRICKS": ",".join(tricks), **(env or {})}
    return {
        "command": sys.executable,
        "args": ["-I", str(SCRIPT)],
        "readable": [str(SCRIPT.parent)],
        "env": variables,
        **settings,
    }


@dataclass
class AgentThread(Conversation):
    """A thread that an outside agent runs."""

    repo: Path = Path()
    trees: Path = Path()

    async def do(self, *steps: list[JsonValue], **arguments: JsonValue) -> JsonObject:
        """Have the agent go through steps, and wait for the end of the turn or its pause."""
        return await self.send(dumps([*steps]), **arguments)

    @property
    def tree(self) -> Path:
        """The agent's own work tree."""
        return next(self.trees.glob(f"*/{self.thread_id}/tree"))

    async def said(self) -> str:
        """Everything that the agent said in the thread."""
        messages = await self.events("assistant.message_committed")
        return "\n".join(str(event.payload["full_text"]) for event in messages)

    async def diff(self) -> JsonObject:
        """What the agent changed and is not applied."""
        return result(await self.ask("thread.diff", thread_id=self.thread_id))

    async def pending(self) -> JsonObject:
        """The newest question that waits for a person."""
        listed = result(await self.ask("approval.list", status="PENDING"))["items"]
        assert isinstance(listed, list) and listed and isinstance(listed[0], dict)
        return listed[0]

    async def are_tables_rebuilt_equal(self) -> bool:
        """Whether the tables are the same when they are made again."""
        for table in (ThreadTable(), ThreadTreeTable()):
            if await self.opened.log.readers.run(lambda connection, table=table: differences(connection, table)):  # type: ignore[misc]  # called at once
                return False
        return True


@asynccontextmanager
async def agent_thread(
    folder: Path, agent: JsonObject, *settings: str, files: Mapping[str, str] = FILES, **arguments: JsonValue
) -> AsyncIterator[AgentThread]:
    """A plane on a repository, and a thread that the agent runs."""
    repo, trees = make_repo(folder / "shop", dict(files)), folder / "trees"
    async with agent_plane(repo, trees, {NAME: agent}, *settings) as opened:
        created = await opened.conveyor.call("thread.create", {"agent": NAME, **arguments}, OWNER)
        yield AgentThread(opened, str(result(created)["thread_id"]), repo=repo, trees=trees)


@asynccontextmanager
async def agent_plane(
    repo: Path, trees: Path, agents: Mapping[str, JsonObject], *settings: str
) -> AsyncIterator[Plane]:
    """A plane whose engine runs, with outside agents."""
    given = f"agents.acp={dumps(dict(agents))}"
    async with plane(repo, given, f"jobs.trees={trees}", *settings) as opened:
        opened.work.start_engine(opened.conveyor)
        yield opened
