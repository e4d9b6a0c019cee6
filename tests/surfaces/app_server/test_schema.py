"""What is said fits the schema that the Codex of the pinned version writes of its own protocol."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from codex_cli_bin import bundled_codex_path  # type: ignore[import-untyped]  # it has no types
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # it has no types

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.app_server.connection import PROTOCOL_VERSION
from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import assistant, call
from tests.surfaces.app_server.wire import WireClient, wire

pytestmark = requirement("CDX-06")


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that Codex writes its schema to."""
    folder = tmp_path_factory.mktemp("schema")
    environment = {"CODEX_HOME": str(tmp_path_factory.mktemp("codex"))}
    command = [str(bundled_codex_path()), "app-server", "generate-json-schema", "--out", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def _validator(schema: Path, name: str) -> Draft7Validator:
    return Draft7Validator(json.loads((schema / f"{name}.json").read_text()))


def _problems(validator: Draft7Validator, message: object) -> list[str]:
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(message)]


def test_the_version_that_is_said_is_that_of_the_schema() -> None:
    done = subprocess.run([str(bundled_codex_path()), "--version"], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["codex-cli", PROTOCOL_VERSION]


def test_notifications_requests_and_answers_fit(schema: Path, tmp_path: Path) -> None:
    answers: Mapping[str, str] = {
        "thread/start": "v2/ThreadStartResponse",
        "thread/resume": "v2/ThreadResumeResponse",
        "thread/read": "v2/ThreadReadResponse",
        "thread/list": "v2/ThreadListResponse",
        "thread/fork": "v2/ThreadForkResponse",
        "thread/turns/list": "v2/ThreadTurnsListResponse",
        "thread/items/list": "v2/ThreadItemsListResponse",
        "thread/unarchive": "v2/ThreadUnarchiveResponse",
        "thread/unsubscribe": "v2/ThreadUnsubscribeResponse",
        "model/list": "v2/ModelListResponse",
        "account/read": "v2/GetAccountResponse",
    }
    with assistant(tmp_path) as served, wire(served.server, begin=False) as client:
        assert _problems(_validator(schema, "v1/InitializeResponse"), client.initialize()) == []

        def ask(method: str, **params: object) -> JsonObject:
            result = client.result(method, params)  # type: ignore[arg-type]  # plain JSON
            assert _problems(_validator(schema, answers[method]), result) == [], method
            return result

        thread = ask("thread/start", sandbox="danger-full-access")["thread"]
        assert isinstance(thread, dict)
        here = {"threadId": thread["id"]}
        edit = {"path": "notes.txt", "old_text": "start\n", "new_text": "start\nmore\n"}
        for text in (call("write_files", edits=[edit]), call("read_files", paths=["notes.txt"]), call("nobody_knows")):
            _finish(client, str(thread["id"]), text)
        turn_id = client.start_turn(str(thread["id"]), call("run_bash", command="echo ran"))
        served.decide(approve=True)
        _until_ended(client, turn_id)
        client.result("thread/name/set", {**here, "name": "Notes"})
        for method in ("thread/read", "thread/resume"):
            ask(method, **here, includeTurns=True)
        for method in ("thread/turns/list", "thread/items/list", "thread/fork"):
            ask(method, **here)
        ask("thread/list")
        client.result("thread/archive", here)
        ask("thread/unarchive", **here)
        ask("model/list")
        ask("account/read")
        ask("thread/unsubscribe", **here)
        told = _validator(schema, "ServerNotification")
        assert _problems(told, {"method": "turn/completed", "params": {}}) and _problems(
            told, {"method": "nobody/knows"}
        )
        assert {str(note["method"]): found for note in client.notes if (found := _problems(told, note))} == {}
        kinds = {str(note["method"]) for note in client.notes}
        assert {"item/commandExecution/outputDelta", "thread/tokenUsage/updated", "warning", "error"} <= kinds
        assert {"thread/name/updated", "thread/archived", "thread/unarchived", "thread/status/changed"} <= kinds


def _finish(client: WireClient, thread: str, text: str) -> None:
    _until_ended(client, client.start_turn(thread, text))


def _until_ended(client: WireClient, turn_id: str) -> None:
    while not any(_ends(note, turn_id) for note in client.notes):
        client.receive()


def _ends(note: JsonObject, turn_id: str) -> bool:
    params = note["params"]
    turn = params.get("turn") if isinstance(params, dict) and note["method"] == "turn/completed" else None
    return isinstance(turn, dict) and turn["id"] == turn_id
