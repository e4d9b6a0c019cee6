"""What operators and monitors ask, without a token."""

import json
import os

from codeplane import __version__
from tests.harness import Server, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import call, listed_events, send


@requirement("SRV-04")
def test_health_says_who_is_there(codeplane_server: Server) -> None:
    answer = send(codeplane_server, path="/health")
    assert answer.status == 200
    assert answer.json == {
        "status": "ok",
        "version": __version__,
        "instance": json.loads(codeplane_server.workspace.server.read_text())["instance"],
        "pid": codeplane_server.process.pid,
    }


@requirement("SRV-04")
def test_ready_when_the_log_can_be_written(codeplane_server: Server) -> None:
    # The first index may still be on its way.
    until(lambda: send(codeplane_server, path="/ready").status == 200)
    answer = send(codeplane_server, path="/ready")
    assert (answer.status, answer.json["status"]) == (200, "ready")


def test_status_is_the_status_operation(codeplane_server: Server) -> None:
    public, called = send(codeplane_server, path="/status"), call(codeplane_server, "status")
    assert public.result["api_version"] == "1.0.0"
    assert public.result["config"] == called.result["config"]
    daemon = public.result["daemon"]
    assert isinstance(daemon, dict)
    assert (daemon["pid"], daemon["port"]) == (codeplane_server.process.pid, codeplane_server.port)


def test_status_is_never_asked_as_the_owner(codeplane_server: Server) -> None:
    meta = send(codeplane_server, path="/status").meta
    call(codeplane_server, "ledger.verify")  # returns when everything said so far is written
    found = listed_events(call(codeplane_server, "ledger.events", {"call_id": meta["call_id"]}))
    assert [event["actor"] for event in found] == ["system:probe"]


@requirement("SRV-04")
def test_metrics_are_what_prometheus_reads(codeplane_server: Server) -> None:
    call(codeplane_server, "status")
    answer = send(codeplane_server, path="/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    samples = dict(line.rpartition(" ")[::2] for line in lines if not line.startswith("#"))
    assert float(samples['codeplane_calls_total{operation="status",status="ok"}']) >= 1
    for name in ("codeplane_ledger_queue_depth", "codeplane_sessions_open", "codeplane_uptime_seconds"):
        assert float(samples[name]) >= 0
    assert float(samples["process_resident_memory_bytes"]) > os.sysconf("SC_PAGE_SIZE")


def test_head_is_get_without_a_body(codeplane_server: Server) -> None:
    for path in ("/health", "/status", "/metrics"):
        answer = send(codeplane_server, "HEAD", path)
        assert (answer.status, answer.body) == (200, b"")
