"""A thread watched through the client, whose connections are cut at random bytes."""

import random
from dataclasses import dataclass
from pathlib import Path

from codeplane.client import Client, Reconnection
from tests.client.cut_proxy import cut_proxy
from tests.surfaces.app_server.assistant import assistant

_QUICK = Reconnection(tries=1000, first_sec=0.001, most_sec=0.002)
_WORDS = 400


@dataclass(frozen=True, kw_only=True)
class CutReport:
    """The events that a watcher saw, those that there are, and how many connections were cut."""

    cuts: int
    seen: list[tuple[int, str]]
    whole: list[tuple[int, str]]


def watch_with_cuts(folder: Path, *, cuts: int, seed: int) -> CutReport:
    """Watch turns while they run, cut so often, and compare with what the log has."""
    chance = random.Random(seed)
    with assistant(folder) as served:
        server = served.server
        direct = Client(server.host, server.port, token=server.token)
        thread_id = direct.create_thread()
        # Small enough that so many cuts fit; the rest comes whole.
        allowance = lambda number: 600 + chance.randrange(1500) if number < cuts else 1 << 30  # noqa: E731
        with cut_proxy(server, allowance) as proxy:
            watching = Client(server.host, proxy.port, token=server.token, reconnection=_QUICK)
            seen: list[tuple[int, str]] = []
            sent = 0
            with watching.watch_thread(thread_id) as events:
                while proxy.connections <= cuts:
                    turn = direct.send(thread_id, f"count {_WORDS}", client_message_id=str(sent))
                    sent += 1
                    for event in events:
                        seen.append((event.sequence, event.event_id))
                        if event.ends_turn and event.turn_id == turn.turn_id:
                            break
        page = direct.call("thread.events", {"thread_id": thread_id, "limit": 1})["result"]
        assert isinstance(page, dict)
        whole: list[tuple[int, str]] = []
        while len(whole) < int(str(page["last_sequence"])):
            more = direct.call("thread.events", {"thread_id": thread_id, "from_sequence": len(whole), "limit": 2000})
            result = more["result"]
            assert isinstance(result, dict) and isinstance(result["events"], list)
            whole += [
                (int(str(event["sequence"])), str(event["event_id"]))
                for event in result["events"]
                if isinstance(event, dict)
            ]
        return CutReport(cuts=proxy.connections - 1, seen=seen, whole=whole)
