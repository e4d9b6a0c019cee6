"""Calls of a real server, traced: stages and what is inside, and the caller's own trace gone on with."""

import json

from codeplane.client.client import Client
from codeplane.kernel.json import JsonObject
from tests.harness import Server, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import owner
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("OBS-10")
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def result(envelope: JsonObject) -> JsonObject:
    """The result of a call that went well."""
    found = envelope["result"]
    assert isinstance(found, dict), envelope
    return found


def spans(server: Server, call_id: object) -> list[tuple[str, int]]:
    """Each span of a call with its depth, in order."""
    shown = result(server.call("trace.show", call_id=call_id))
    traces = shown["traces"]
    assert isinstance(traces, list)
    (trace,) = traces
    return [(span["name"], span["depth"]) for span in trace["spans"]]


def called(server: Server, operation: str, **arguments: object) -> object:
    """The id of a call that went well."""
    meta = server.call(operation, **arguments)["meta"]
    assert isinstance(meta, dict)
    return meta["call_id"]


def test_a_search_shows_its_stages_and_the_index(codeplane_server: Server) -> None:
    call_id = called(codeplane_server, "search", query="example")
    found = spans(codeplane_server, call_id)
    stages = [name for name, depth in found if depth == 0]
    assert stages == ["validate", "identify", "authorise", "approve", "budget", "execute", "record"]
    assert ("index.query", 1) in found
    assert ("files.stat", 1) in found


def test_a_write_shows_files_and_sqlite(codeplane_server: Server) -> None:
    call_id = called(codeplane_server, "write_files", edits=[{"path": "traced.txt", "content": "x\n"}])
    found = {name for name, _ in spans(codeplane_server, call_id)}
    assert {"files.write", "sqlite.append"} <= found


def test_git_is_part_of_it(codeplane_server: Server) -> None:
    found = spans(codeplane_server, called(codeplane_server, "git.log"))
    assert any(name == "git" for name, _ in found)


def test_a_call_that_is_refused_is_traced_as_far_as_it_came(codeplane_server: Server) -> None:
    meta = codeplane_server.call("search", query="")["meta"]
    assert isinstance(meta, dict)
    assert [name for name, _ in spans(codeplane_server, meta["call_id"])] == ["validate", "record"]


def test_the_callers_trace_is_gone_on_with(codeplane_server: Server) -> None:
    body = json.dumps({"operation": "status", "arguments": {"include": ["ledger"]}}).encode()
    headers = {**owner(codeplane_server), "content-type": "application/json", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    path = "/codeplane.v1.OperationService/Call"
    assert codeplane_server.request("POST", path, body=body, headers=headers)[0].status == 200
    shown = result(codeplane_server.call("trace.show", call_id=TRACE))
    assert shown["traces"][-1]["parent_id"] == PARENT  # type: ignore[index,call-overload]  # a list of traces


def test_metrics_tell_of_it(codeplane_server: Server) -> None:
    called(codeplane_server, "search", query="example")
    text = codeplane_server.request("GET", "/metrics")[1].decode()
    reported = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"}
    assert reported['codeplane_span_seconds_count{span="index.query"}'] >= 1
    assert reported['codeplane_policy_decisions_total{verdict="allow"}'] >= 1
    assert reported["codeplane_index_ready"] == 1
    assert reported["codeplane_stream_lag_events"] == 0


def answer(envelope: JsonObject) -> object:
    """What `trace.show` says that a call was answered."""
    traces = result(envelope)["traces"]
    assert isinstance(traces, list)
    (trace,) = traces
    assert isinstance(trace, dict) and trace["spans"]
    return trace["answer"]


def test_what_was_answered_is_for_the_owner_alone_and_secrets_for_nobody(codeplane_server: Server) -> None:
    call_id = called(codeplane_server, "search", query="example")
    assert "README.md" in str(answer(codeplane_server.call("trace.show", call_id=call_id)))
    made = codeplane_server.call("agent.token", agent="curious", capabilities=["read_files"])
    agent = Client(codeplane_server.host, codeplane_server.port, token=str(result(made)["token"]))
    own = agent.call("search", {"query": "example"})["meta"]
    assert isinstance(own, dict)
    assert answer(agent.call("trace.show", {"call_id": str(own["call_id"])})) is None
    meta = made["meta"]
    assert isinstance(meta, dict)
    assert answer(codeplane_server.call("trace.show", call_id=meta["call_id"])) is None


def test_only_who_was_cut_off_counts_as_come_back(server: Server) -> None:
    def counted(name: str) -> int:
        output = server.request("GET", "/metrics")[1].decode()
        (line,) = (one for one in output.splitlines() if one.startswith(f'{name}{{surface="web"}}'))
        return int(float(line.split()[-1]))

    visitor = BrowserSession(server).sign_in()
    for page in ("/dashboard/live", "/dashboard/activity/live"):
        with visitor.stream(f"{page}?after=1") as events:
            next(events)
            until(lambda: counted("codeplane_streams_open") == 1)
        until(lambda: counted("codeplane_streams_open") == 0)
    assert (counted("codeplane_streams_opened_total"), counted("codeplane_stream_reconnects_total")) == (2, 0)
    for page in ("/dashboard/live", "/dashboard/activity/live"):
        with visitor.stream(page, {"last-event-id": "1"}) as events:
            next(events)
            until(lambda: counted("codeplane_streams_open") == 1)
        until(lambda: counted("codeplane_streams_open") == 0)
    assert (counted("codeplane_streams_opened_total"), counted("codeplane_stream_reconnects_total")) == (4, 2)
