"""Clients that are cut off go on after the cursor of the last notification that they saw."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import assistant, call
from tests.surfaces.app_server.cut_clients import follow
from tests.surfaces.app_server.wire import wire

pytestmark = requirement("CDX-05")

MESSAGES = [
    "count 40",
    call("write_files", edits=[{"path": "made.txt", "content": "one\n"}]),
    call("read_files", paths=["notes.txt"]),
    "count 40",
]


def test_a_few_cuts_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with assistant(tmp_path) as served:
        told = follow(served.server, MESSAGES, cuts=12, seed=1)
    assert told.seen == told.whole and told.cuts >= 12
    assert {"turn/completed", "item/started", "item/completed", "item/agentMessage/delta"} <= {
        str(note["method"]) for note in told.whole
    }


@pytest.mark.parametrize("cursor", ["x", "0.1", "1", "1.x", "999999.1", "9" * 40 + ".1"])
def test_a_cursor_that_is_none_is_refused(tmp_path: Path, cursor: str) -> None:
    with assistant(tmp_path) as served, wire(served.server) as client:
        asked: JsonObject = {"threadId": client.start_thread(), "cursor": cursor}
        assert client.error("thread/resume", asked)["code"] == -32602
