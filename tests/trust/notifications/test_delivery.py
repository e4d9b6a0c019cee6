"""How a person is reached who does not look: by a command, by a webhook that they allowed, and not too often."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject
from tests.harness import make_repo, start, until
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, ManualClock, plane
from tests.trust.approvals.agent_calls import refused, result

pytestmark = requirement("NOTIFY-01")


@contextmanager
def _receiver(*statuses: int) -> Iterator[tuple[str, list[JsonObject]]]:
    """A server that answers with one status after the other, the last again, and keeps what it was sent."""
    received: list[JsonObject] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            received.append({**body, "header": self.headers["x-codeplane-notification"]})
            self.send_response(statuses[min(len(received), len(statuses)) - 1])
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_agents_reach_out_a_few_times_an_hour(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, "notifications.reach_outs_per_hour=2", clock=clock) as opened:
        said: JsonObject = {"text": "the build is red"}
        assert result(await opened.conveyor.call("notification.reach_out", said, AGENT))["left"] == 1
        result(await opened.conveyor.call("notification.reach_out", said, AGENT))
        assert refused(await opened.conveyor.call("notification.reach_out", said, AGENT)) == "RATE_LIMITED"
        clock.advance(3601)
        result(await opened.conveyor.call("notification.reach_out", said, AGENT))
        listed = result(await opened.conveyor.call("notification.list", {"type": "PROACTIVE_REACH_OUT"}, OWNER))
        assert str(listed).count("the build is red") == 3


async def test_no_more_get_through_when_many_reach_out_at_once(tmp_path: Path) -> None:
    async with plane(tmp_path, "notifications.reach_outs_per_hour=2") as opened:
        said: JsonObject = {"text": "the build is red"}
        outcomes = await asyncio.gather(
            *(opened.conveyor.call("notification.reach_out", said, AGENT) for _ in range(8))
        )
        assert len([outcome for outcome in outcomes if outcome.error is None]) == 2


def test_a_webhook_is_not_sent_the_values_of_secrets_files(tmp_path: Path) -> None:
    value = "blue-" + "horse-battery-71"
    repo = make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})
    (repo / ".env").write_text(f"DB_PASSWORD={value}\n")
    with _receiver(200) as (address, received):
        running = start(repo, overrides=[f"notifications.webhook={address}"])
        try:
            running.call("notification.allow", address=address)
            running.call("notification.reach_out", text=f"it is {value} now")
            until(lambda: len(received) == 1)
            assert value not in str(received) and "it is" in str(received[0]["summary"])
        finally:
            running.stop()


async def test_a_rule_of_the_owner_can_forbid_it(tmp_path: Path) -> None:
    policy = tmp_path / ".codeplane/policy/quiet.rego"
    policy.parent.mkdir(parents=True)
    policy.write_text(
        'package codeplane.policy\n\ndeny contains "not now" if input.operation.name == "notification.reach_out"\n'
    )
    async with plane(tmp_path) as opened:
        denied = await opened.conveyor.call("notification.reach_out", {"text": "psst"}, AGENT)
        assert refused(denied) == "POLICY_DENIED"


async def test_a_webhook_gets_nothing_before_it_is_allowed_and_asks_anew_for_another(tmp_path: Path) -> None:
    with _receiver(200) as (address, received), _receiver(200) as (other, others):
        async with plane(tmp_path, f"notifications.webhook={address}") as opened:
            opened.trust.delivery.start()
            result(await opened.conveyor.call("notification.reach_out", {"text": "early"}, AGENT))
            tested = result(await opened.conveyor.call("notification.test", {}, OWNER))
            assert "not allowed yet" in str(tested) and received == []
            wrong = await opened.conveyor.call("notification.allow", {"address": other}, OWNER)
            assert refused(wrong) == "NOT_FOUND"
            assert (
                refused(await opened.conveyor.call("notification.allow", {"address": address}, AGENT))
                == "POLICY_DENIED"
            )
            result(await opened.conveyor.call("notification.allow", {"address": address}, OWNER))
            tested = result(await opened.conveyor.call("notification.test", {}, OWNER))
            assert [notice["type"] for notice in received] == ["TEST"] and "problem': ''" in str(tested)
        async with plane(tmp_path, f"notifications.webhook={other}") as opened:
            tested = result(await opened.conveyor.call("notification.test", {}, OWNER))
            assert "not allowed yet" in str(tested) and others == []


async def test_a_webhook_that_fails_is_tried_again_and_then_reported(tmp_path: Path) -> None:
    with _receiver(503, 200, 404) as (address, received):
        async with plane(tmp_path, f"notifications.webhook={address}") as opened:
            result(await opened.conveyor.call("notification.allow", {"address": address}, OWNER))
            result(await opened.conveyor.call("notification.test", {}, OWNER))
            assert len(received) == 2 and received[0]["header"] == received[1]["header"]
            assert "answered 404" in str(result(await opened.conveyor.call("notification.test", {}, OWNER)))
            assert len(received) == 3


def test_a_server_runs_the_command_of_its_owner(tmp_path: Path) -> None:
    shown = tmp_path / "shown.txt"
    script = tmp_path / "show.sh"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" >> {shown}\n')
    script.chmod(0o755)
    running = start(make_repo(tmp_path / "repo"), overrides=[f"notifications.command=[{script}]"])
    try:
        running.call("notification.reach_out", text="-rf is no option here")
        until(shown.exists)
        assert shown.read_text() == "repo: -rf is no option here\n"
    finally:
        running.stop()


def test_a_flood_is_cut_off(tmp_path: Path) -> None:
    with _receiver(200) as (address, received):
        overrides = [
            f"notifications.webhook={address}",
            "notifications.per_minute=2",
            "notifications.reach_outs_per_hour=9",
        ]
        running = start(make_repo(tmp_path / "repo"), overrides=overrides)
        try:
            running.call("notification.allow", address=address)
            for number in range(5):
                running.call("notification.reach_out", text=f"note {number}")
            running.call("notification.test")
            until(lambda: len(received) == 3)
            kinds = [str(notice["summary"]) for notice in received if notice["type"] != "TEST"]
            assert kinds == ["note 0", "note 1"]
        finally:
            running.stop()


async def test_a_repository_cannot_name_a_command(tmp_path: Path) -> None:
    config = tmp_path / ".codeplane/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("notifications: {command: [sh, -c, 'touch /tmp/owned']}\n")
    with pytest.raises(ConfigInvalid):
        async with plane(tmp_path):
            pass
