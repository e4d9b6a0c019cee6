"""Watchers of a thread that lose their connection again and again, and go on after the last event they saw.

`python -m tests.work.turns.cut_watches --cuts 200` prints what it comes to on each wire.
"""

import argparse
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from socket import SHUT_RDWR
from typing import TypeAlias

from codeplane._gen.events_pb2 import ThreadEvent, WatchThreadRequest
from codeplane.kernel.json import JsonObject
from tests.harness import PATIENCE_SEC, Server, make_repo, start
from tests.surfaces.http.wire import events as sent_events
from tests.surfaces.http.wire import open_response, owner
from tests.surfaces.services.wires import opened
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    answer,
    openai_text,
    openai_tool,
    scripted_provider,
)

_MOST_EVENTS = 12


@dataclass(frozen=True, kw_only=True)
class Seen:
    """An event as a watcher got it; `cursor` is what it goes on after."""

    event_id: str
    sequence: int
    cursor: int
    # From when it happened until it was here; for what happened while the watcher was away, with that time.
    lag_ms: float


@dataclass(frozen=True, kw_only=True)
class WatchReport:
    """What a watcher saw of the events of a thread, whose connection was cut `reconnects` times."""

    events: int
    reconnects: int
    missed: int
    repeated: int
    is_in_order: bool
    lags_ms: list[float]

    def line(self, wire: str) -> str:
        """The report as a line of a table."""
        ordered = sorted(self.lags_ms)
        p50, p95 = (ordered[len(ordered) * share // 100] for share in (50, 95))
        return (
            f"{wire:<10} {self.events:>6} events {self.reconnects:>5} reconnects {self.missed} missed {self.repeated} "
            f"repeated  lag p50 {p50:.0f} p95 {p95:.0f} max {ordered[-1]:.0f} ms"
        )


Watch: TypeAlias = Callable[[Server, str, int], AbstractContextManager[Iterator[Seen]]]


@contextmanager
def streaming_server(folder: Path) -> Iterator[Server]:
    """A server with a model that streams, and all its wires."""
    with scripted_provider(decide=_decide) as provider:
        # The turns of all wires are more calls than a provider usually gets in a minute.
        overrides = (providers(openai("local", provider.url, calls_per_minute=0)), "models.default=local/small")
        running = start(make_repo(folder / "repo"), overrides=overrides)
        running.facts |= json.loads(running.workspace.server.read_text())
        try:
            yield running
        finally:
            running.stop()


def _decide(request: ReceivedRequest) -> Act:
    """Read a file, then answer in many words."""
    messages = request.body["messages"]
    assert isinstance(messages, list) and isinstance(messages[-1], dict)
    if messages[-1]["role"] == "tool":
        return answer(openai_text(*(f"word{number} " for number in range(30))), pause_sec=0.01)
    return answer(openai_tool("c", "read_files", {"paths": ["README.md"]}, "I ", "look "), pause_sec=0.01)


def watch_with_cuts(server: Server, wire: str, *, cuts: int, seed: int) -> WatchReport:
    """Cut a watcher off so many times while turns stream, and report what it saw."""
    chance, seen, enough = random.Random(seed), list[Seen](), threading.Event()
    created = server.call("thread.create")["result"]
    assert isinstance(created, dict)
    thread_id = str(created["thread_id"])

    def talk() -> None:
        while not enough.is_set():
            sent = server.call("turn.send", thread_id=thread_id, user_text="look at it", wait_sec=60)
            result = sent["result"]
            assert isinstance(result, dict) and result["status"] == "COMPLETED", result

    def read(events: Iterator[Seen], count: int) -> None:
        for _ in range(count):
            seen.append(next(events))

    def cursor() -> int:
        return seen[-1].cursor if seen else 0

    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(talk)
        try:
            for _ in range(cuts):
                with WIRES[wire](server, thread_id, cursor()) as events:
                    read(events, chance.randrange(_MOST_EVENTS))
        finally:
            enough.set()
        talking.result(PATIENCE_SEC)
    held = _events(server, thread_id)
    with WIRES[wire](server, thread_id, cursor()) as events:
        read(events, len(held) - len(seen))
    ids, there = [event.event_id for event in seen], [str(event["event_id"]) for event in held]
    return WatchReport(
        events=len(held),
        reconnects=cuts,
        missed=len({*there} - {*ids}),
        repeated=len(ids) - len({*ids}),
        is_in_order=ids == there and [event.sequence for event in seen] == [*range(1, len(held) + 1)],
        lags_ms=[event.lag_ms for event in seen],
    )


def _events(server: Server, thread_id: str) -> list[JsonObject]:
    held: list[JsonObject] = []
    while True:
        page = server.call("thread.events", thread_id=thread_id, from_sequence=len(held), limit=2000)["result"]
        assert isinstance(page, dict) and isinstance(page["events"], list)
        held += [event for event in page["events"] if isinstance(event, dict)]
        if not page["events"] or len(held) >= int(str(page["last_sequence"])):
            return held


def _typed(wire: str) -> Watch:
    """A typed stream, resumed by the thread's sequence."""

    @contextmanager
    def watch(server: Server, thread_id: str, after: int) -> Iterator[Iterator[Seen]]:
        request = WatchThreadRequest(thread_id=thread_id, from_sequence=after)
        with opened(wire, server, "EventsService/WatchThread", request, ThreadEvent) as stream:
            yield (
                Seen(
                    event_id=event.event_id,
                    sequence=event.sequence,
                    cursor=event.sequence,
                    lag_ms=_lag_ms(event.occurred_at.ToNanoseconds() / 1e9),
                )
                for event in stream.messages
                if not event.HasField("heartbeat")
            )
            stream.cancel()

    return watch


@contextmanager
def _server_sent(server: Server, thread_id: str, after: int) -> Iterator[Iterator[Seen]]:
    """Server-sent events, resumed by `Last-Event-ID`."""
    headers = {**owner(server), "last-event-id": str(after)}
    with open_response(server, "GET", f"/events?stream=thread/{thread_id}", headers=headers) as response:
        yield (_seen(event.data) for event in sent_events(response) if event.kind == "event")


@contextmanager
def _socket(server: Server, thread_id: str, after: int) -> Iterator[Iterator[Seen]]:
    """A WebSocket, resumed by position."""
    from websockets.sync.client import connect

    address = f"ws://{server.host}:{server.port}/ws/events?stream=thread/{thread_id}&after={after}"
    with connect(address, additional_headers=owner(server)) as socket:
        messages = (json.loads(text) for text in socket)
        yield (_seen(message["event"]) for message in messages if message["type"] == "event")
        # As a lost connection: without a closing handshake.
        socket.socket.shutdown(SHUT_RDWR)


def _seen(event: JsonObject) -> Seen:
    return Seen(
        event_id=str(event["event_id"]),
        sequence=int(str(event["sequence"])),
        cursor=int(str(event["position"])),
        lag_ms=_lag_ms(datetime.fromisoformat(str(event["occurred_at"])).timestamp()),
    )


def _lag_ms(happened_sec: float) -> float:
    return (time.time() - happened_sec) * 1000


WIRES: dict[str, Watch] = {
    "connect": _typed("connect+proto"),
    "grpc": _typed("grpc"),
    "sse": _server_sent,
    "websocket": _socket,
}


def main() -> int:
    """Print the report of every wire and what the server counted; 1 when an event was missed or came twice."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--wires", nargs="+", choices=WIRES, default=[*WIRES])
    options = parser.parse_args()
    is_good = True
    with tempfile.TemporaryDirectory() as folder, streaming_server(Path(folder)) as server:
        for wire in options.wires:
            report = watch_with_cuts(server, wire, cuts=options.cuts, seed=1)
            is_good = is_good and report.is_in_order
            print(report.line(wire), flush=True)
        _, metrics = server.request("GET", "/metrics", headers=owner(server))
        wanted = ("codeplane_stream_reconnects_total", "codeplane_stream_gaps_total", "codeplane_stream_lag_events")
        print("\n".join(line for line in metrics.decode().splitlines() if line.startswith(wanted)))
    return 0 if is_good else 1


if __name__ == "__main__":
    raise SystemExit(main())
