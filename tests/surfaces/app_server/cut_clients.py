"""A thread followed by a client that is cut off again and again, beside one that is not."""

import random
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.surfaces.app_server.wire import WireClient, wire


@dataclass
class Cuts:
    """What was seen, and how often the connection was cut."""

    cuts: int
    seen: list[JsonObject]
    whole: list[JsonObject]


def follow(server: Server, messages: list[str], *, cuts: int, seed: int) -> Cuts:
    """Send messages, follow their turns with so many cuts, and return what both clients were told."""
    chance = random.Random(seed)
    with wire(server) as steady:
        thread = steady.start_thread()
        last = [steady.start_turn(thread, text) for text in messages][-1]
        while not _is_end(steady.notes, last):
            steady.receive()
        whole = _told(steady)
        most = max(1, len(whole) // cuts * 2)
        seen: list[JsonObject] = []
        done = 0
        while done < cuts or not _is_end(seen, last):
            with wire(server) as client:
                client.result("thread/resume", {"threadId": thread, "excludeTurns": True, **_after(seen)})
                wanted = len(seen) + chance.randrange(most) if done < cuts else len(whole)
                while len(seen) + len(_told(client)) < min(wanted, len(whole)):
                    client.receive()
                seen += _told(client)
                # Without a word, as when a machine goes away.
                client.socket.socket.close()
                done += 1
    return Cuts(cuts=done, seen=seen, whole=whole)


def _after(seen: list[JsonObject]) -> JsonObject:
    # What came first is the answer to `thread/start`, which is sequence 1.
    params = seen[-1]["params"] if seen else {"cursor": "1.9"}
    assert isinstance(params, dict)
    return {"cursor": params["cursor"]}


def _told(client: WireClient) -> list[JsonObject]:
    """The notifications of what happens in the thread."""
    return [note for note in client.notes if note["method"] not in ("thread/started", "thread/closed")]


def _is_end(notes: list[JsonObject], turn_id: str) -> bool:
    """Whether the thread is idle after the last turn."""
    ends = [note["params"] for note in notes if note["method"] == "turn/completed"]
    turns = [params["turn"] for params in ends if isinstance(params, dict)]
    params = notes[-1]["params"] if notes else {}
    is_idle = isinstance(params, dict) and params.get("status") == {"type": "idle"}
    return is_idle and any(isinstance(turn, dict) and turn["id"] == turn_id for turn in turns)
