"""A server whose model plays what a message asks for, and OpenAI's SDK as its client."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from openai_codex import Codex, CodexConfig
from openai_codex.client import ApprovalHandler, CodexClient
from openai_codex.models import Notification, UnknownNotification

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, Server, make_repo, start, until
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    ScriptedProvider,
    answer,
    hang,
    openai_text,
    openai_tool,
    scripted_provider,
)

FILES = {"colours.py": 'def colour():\n    """Decide the colour."""\n    return "red"\n', "notes.txt": "start\n"}


@dataclass
class Assistant:
    """A running server, the model behind it, and the repository it works on."""

    server: Server
    provider: ScriptedProvider
    repo: Path
    overrides: Sequence[str]

    def restart(self) -> None:
        """Kill the server and start it again."""
        self.server.kill()
        self.server = start(self.repo, overrides=self.overrides)

    def config(self, *arguments: str) -> CodexConfig:
        """How the SDK starts us, as `cpl` itself or with options of ours."""
        if not arguments:
            return CodexConfig(codex_bin=CPL, cwd=str(self.repo))
        return CodexConfig(launch_args_override=(CPL, "app-server", *arguments), cwd=str(self.repo))

    def codex(self) -> Codex:
        """The SDK as its users have it."""
        return Codex(self.config())

    @contextmanager
    def client(self, *arguments: str, approve: ApprovalHandler | None = None) -> Iterator[CodexClient]:
        """The SDK's client below that, which lets a program answer questions."""
        with CodexClient(self.config(*arguments), approve) as client:
            client.initialize()
            yield client

    def pending(self) -> JsonObject:
        """The action that waits for a person, once there is one."""

        def waiting() -> list[JsonObject]:
            result = self.server.call("approval.list", status="PENDING")["result"]
            assert isinstance(result, dict) and isinstance(result["items"], list)
            return [item for item in result["items"] if isinstance(item, dict)]

        (action,) = until(waiting)
        return action

    def decide(self, *, approve: bool) -> JsonObject:
        """Decide what waits, as a person does; returns what waited."""
        action = self.pending()
        name = "approval.approve" if approve else "approval.reject"
        assert "error" not in self.server.call(name, action_id=action["action_id"])
        return action


def play(request: ReceivedRequest) -> Act:
    """What a message asks the model to do; behind a tool's answer, it is done.

    `call NAME {…}` calls a tool, `hang` says something and then nothing, `count N` says so many words.
    """
    messages = request.body["messages"]
    assert isinstance(messages, list)
    last = messages[-1]
    assert isinstance(last, dict)
    text = str(last["content"])
    if last["role"] == "tool":
        return answer(openai_text("all ", "done"))
    verb, _, rest = text.partition(" ")
    if verb == "call":
        name, _, arguments = rest.partition(" ")
        return answer(openai_tool("call_0", name, json.loads(arguments), "I ", f"call {name}"))
    if verb == "hang":
        return hang(openai_text("I am ", "thinking")[:2])
    if verb == "count":
        return answer(openai_text(*(f"{number} " for number in range(int(rest)))))
    return answer(openai_text("you ", "said ", text))


@contextmanager
def assistant(folder: Path, *settings: str) -> Iterator[Assistant]:
    """A server with that model."""
    repo = make_repo(folder / "shop", FILES)
    with scripted_provider(decide=play) as provider:
        overrides = (providers(openai("local", provider.url)), "models.default=local/small", *settings)
        running = Assistant(start(repo, overrides=overrides), provider, repo, overrides)
        try:
            yield running
        finally:
            running.server.stop()


def call(tool: str, **arguments: object) -> str:
    """A message that has the model call a tool."""
    return f"call {tool} {json.dumps(arguments)}"


def until_completed(client: CodexClient, turn_id: str) -> list[Notification]:
    """All notifications of a turn; each is one that the SDK knows."""
    client.register_turn_notifications(turn_id)
    seen: list[Notification] = []
    while not seen or seen[-1].method != "turn/completed":
        seen.append(client.next_turn_notification(turn_id))
        assert not isinstance(seen[-1].payload, UnknownNotification), seen[-1]
    client.unregister_turn_notifications(turn_id)
    return seen


def items_of(seen: Sequence[Notification], method: str = "item/completed") -> list[JsonObject]:
    """The items that notifications tell of, as they came."""
    payloads = [note.payload for note in seen if note.method == method]
    return [payload.item.root.model_dump(mode="json", by_alias=True) for payload in payloads]  # type: ignore[union-attr]  # of items
