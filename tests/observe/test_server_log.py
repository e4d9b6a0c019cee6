"""What a server logs, as it is configured: several outputs, and lines that can be followed from call to task."""

import json
from pathlib import Path

from tests.harness import cpl, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import call, owner


@requirement("SRV-07")
def test_calls_can_be_followed_in_every_output(repo: Path, tmp_path: Path) -> None:
    machine, people = tmp_path / "all.jsonl", tmp_path / "brief.log"
    outputs = [
        {"format": "json", "destination": str(machine)},
        {"format": "console", "destination": str(people), "level": "WARN"},
    ]
    server = start(repo, overrides=["logging.level=DEBUG", f"logging.outputs={json.dumps(outputs)}"])
    try:
        good = call(server, "status", headers={**owner(server), "x-request-id": "follow-me"})
        bad = call(server, "status", {"zzz": 1})

        def finished() -> dict[str, dict[str, object]]:
            lines = [json.loads(line) for line in machine.read_text().splitlines()]
            return {line["call_id"]: line for line in lines if line["event"] == "call finished"}

        found = until(lambda: finished() if str(bad.meta["call_id"]) in finished() else {})
    finally:
        server.stop()
    line = found[str(good.meta["call_id"])]
    assert (line["level"], line["operation"], line["status"]) == ("debug", "status", "ok")
    assert (line["request_id"], line["task_id"]) == ("follow-me", good.meta["task_id"])
    assert found[str(bad.meta["call_id"])]["status"] == "INVALID_ARGUMENT"

    text = machine.read_text()
    for entry in map(json.loads, text.splitlines()):
        assert {"ts", "level", "event"} <= set(entry)
    assert text == server.workspace.log.read_text()
    assert "call finished" not in people.read_text() if people.exists() else True
    assert server.token not in text


def test_an_output_nobody_can_write_does_not_stop_the_server(repo: Path, tmp_path: Path) -> None:
    outputs = [{"destination": str(tmp_path / "none" / "x.log")}, {"destination": "/dev/full"}]
    server = start(repo, overrides=[f"logging.outputs={json.dumps(outputs)}"])
    try:
        assert call(server, "status").status == 200
        assert "log output failed" in server.workspace.log.read_text()
        assert cpl("status", cwd=repo).returncode == 0
    finally:
        assert server.stop() == 0
