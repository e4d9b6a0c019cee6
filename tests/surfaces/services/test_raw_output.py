"""What a command of a turn prints reaches watchers byte by byte, also where it is not UTF-8."""

import json
from collections.abc import Iterator

import pytest

from codeplane._gen.events_pb2 import ThreadEvent, WatchThreadRequest
from codeplane._gen.types_pb2 import STDOUT
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.services.wires import WIRES, opened
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import answer, openai_text, openai_tool, scripted_provider

pytestmark = requirement("RPC-22")

PRINTED = b"caf\xe9 \x00\xff\xfe\n"
COMMAND = r"printf 'caf\xe9 \x00\xff\xfe\n'"


@pytest.fixture(scope="module")
def thread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server with a thread in which a command has run."""
    script = answer(openai_tool("c", "run_bash", {"command": COMMAND})), answer(openai_text("Done."))
    with scripted_provider(*script) as provider:
        server = start(
            make_repo(tmp_path_factory.mktemp("raw") / "repo"), overrides=[providers(openai("local", provider.url))]
        )
        server.facts |= json.loads(server.workspace.server.read_text())
        try:
            created = server.call("thread.create", toolset="core,run_bash")["result"]
            assert isinstance(created, dict)
            asked = {"thread_id": created["thread_id"], "user_text": "print it", "client_message_id": "m"}
            paused = server.call("turn.send", **asked, wait_sec=60)["result"]
            assert isinstance(paused, dict) and isinstance(paused["pending_action_ids"], list), paused
            server.call("approval.approve", action_id=paused["pending_action_ids"][0])
            with opened("grpc", server, "EventsService/WatchThread", _watch(created["thread_id"]), ThreadEvent) as seen:
                seen.next(lambda event: event.HasField("turn_completed"))
                seen.cancel()
            yield server, str(created["thread_id"])
        finally:
            server.stop()


def _watch(thread_id: object) -> WatchThreadRequest:
    return WatchThreadRequest(thread_id=str(thread_id))


@pytest.mark.parametrize("wire", WIRES)
def test_the_bytes_are_those_that_were_printed(thread: tuple[Server, str], wire: str) -> None:
    server, thread_id = thread
    printed = b""
    with opened(wire, server, "EventsService/WatchThread", _watch(thread_id), ThreadEvent) as stream:
        for event in stream.messages:
            if event.HasField("tool_execution_output_delta"):
                delta = event.tool_execution_output_delta
                assert (delta.stream, delta.offset_bytes, delta.utf8) == (STDOUT, len(printed), False)
                printed += delta.chunk
            if event.HasField("turn_completed"):
                break
        stream.cancel()
    assert printed == PRINTED
