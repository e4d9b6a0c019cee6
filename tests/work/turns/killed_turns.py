"""Conversations whose server is killed again and again, and what has to hold of them in the end."""

import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.owner_client import OwnerClient
from tests.harness import make_repo, start, until
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    answer,
    openai_text,
    openai_tool,
    scripted_provider,
)

THREADS = 2
# Turns of a thread that are sent before the first of them has ended.
_AHEAD = 2
# A kill comes within this time: a turn takes about as long.
_WINDOW_SEC = 1.2
_PAUSE_SEC = 0.004
_MESSAGE = re.compile(r"^thread (\d+) turn (\d+)$")
# What a call on a server that is being killed may end with.
_CUT = (OSError, HTTPException, CodePlaneError)


@dataclass
class Tally:
    """What was seen."""

    kills: int = 0
    turns: int = 0
    resumed: int = 0
    unknown: int = 0
    sent: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(THREADS), 0))


def besiege(folder: Path, *, kills: int, seed: int) -> Tally:
    """Hold conversations whose turns read, edit and run commands that a person approves, kill the server at random
    moments, and check that every effect and every message is there once."""
    chance, tally = random.Random(seed), Tally()
    files = {name: "start\n" for number in range(THREADS) for name in (_lines_file(number), _commands_file(number))}
    repo = make_repo(folder / "shop", files)
    with scripted_provider(decide=_decide) as provider:
        overrides = (providers(openai("local", provider.url)), "models.default=local/small")
        server = start(repo, overrides=overrides)
        try:
            client = server.client()
            threads = [_create_thread(client) for _ in range(THREADS)]
            for _ in range(kills):
                deadline = threading.Timer(chance.random() * _WINDOW_SEC, server.process.kill)
                deadline.start()
                # Also in the middle of a message or an approval, which is then sent again.
                with suppress(*_CUT):
                    while True:
                        _drive(client, threads, tally)
                deadline.join()
                server.kill()
                tally.kills += 1
                server = start(repo, overrides=overrides)
                client = server.client()

            # A message whose acknowledgement was cut off is sent again, and is the same turn.
            for number, thread_id in enumerate(threads):
                _send(client, number, thread_id, tally)

            def have_ended() -> bool:
                _approve_all(client)
                return all(_has_ended(client, thread_id, tally.sent[n]) for n, thread_id in enumerate(threads))

            until(have_ended)
            for number, thread_id in enumerate(threads):
                _check(repo, client, number, thread_id, tally)
            verified = _call(client, "ledger.verify")["result"]
            assert isinstance(verified, dict) and verified["ok"], verified
        finally:
            server.stop()
    return tally


def _decide(request: ReceivedRequest) -> Act:
    """The next answer, by what the conversation says: which message is the last one, and how many tools answered."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    answered, asked = 0, ""
    for message in reversed(messages):
        assert isinstance(message, dict)
        if message["role"] == "user":
            asked = str(message["content"])
            break
        answered += message["role"] == "tool"
    match = _MESSAGE.match(asked)
    assert match is not None, asked
    number, turn = int(match[1]), int(match[2])
    said = [f"{word} " for word in _said(number, turn)[answered].split()]
    if answered == len(_said(number, turn)) - 1:
        return answer(openai_text(*said), pause_sec=_PAUSE_SEC)
    name, arguments = _calls(number, turn)[answered]
    return answer(openai_tool(f"call_{answered}", name, arguments, *said), pause_sec=_PAUSE_SEC)


def _calls(number: int, turn: int) -> list[tuple[str, JsonObject]]:
    """The tools of a turn in their order."""
    path = _lines_file(number)
    return [
        ("read_files", {"paths": [path]}),
        ("write_files", {"edits": [_append(path, _previous(turn, 0), _line(turn, 0))]}),
        ("run_bash", {"command": f"echo {turn} >> {_commands_file(number)}"}),
        ("write_files", {"edits": [_append(path, _line(turn, 0), _line(turn, 1))]}),
    ]


def _append(path: str, last: str, line: str) -> JsonObject:
    return {"path": path, "old_text": last, "new_text": f"{last}{line}"}


def _previous(turn: int, part: int) -> str:
    return "start\n" if turn == 0 else _line(turn - 1, 1)


def _line(turn: int, part: int) -> str:
    return f"line {turn}.{part} end\n"


def _said(number: int, turn: int) -> list[str]:
    """What the model says in a turn, with each call and at the end."""
    steps = ("I read the file first", "now the first line", "then a command", "and the second line", "all is done")
    return [f"{step} in turn {turn} of thread {number}" for step in steps]


def _lines_file(number: int) -> str:
    return f"lines{number}.txt"


def _commands_file(number: int) -> str:
    return f"commands{number}.txt"


def _call(client: OwnerClient, operation: str, **arguments: JsonValue) -> JsonObject:
    return client.call(operation, arguments)


def _create_thread(client: OwnerClient) -> str:
    created = _call(client, "thread.create", toolset="core,run_bash")["result"]
    assert isinstance(created, dict)
    return str(created["thread_id"])


def _drive(client: OwnerClient, threads: list[str], tally: Tally) -> None:
    """Approve what waits and send the next messages."""
    _approve_all(client)
    for number, thread_id in enumerate(threads):
        if _has_ended(client, thread_id, tally.sent[number] - _AHEAD + 1):
            _send(client, number, thread_id, tally)


def _send(client: OwnerClient, number: int, thread_id: str, tally: Tally) -> None:
    turn = tally.sent[number]
    asked, message_id = f"thread {number} turn {turn}", f"message-{turn}"
    sent = _call(client, "turn.send", thread_id=thread_id, user_text=asked, client_message_id=message_id)
    assert "error" not in sent, sent
    tally.sent[number] += 1


def _approve_all(client: OwnerClient) -> None:
    listed = _call(client, "approval.list", status="PENDING")["result"]
    assert isinstance(listed, dict) and isinstance(listed["items"], list)
    for action in listed["items"]:
        assert isinstance(action, dict)
        _call(client, "approval.approve", action_id=action["action_id"])


def _has_ended(client: OwnerClient, thread_id: str, turns: int) -> bool:
    """Whether the first so many turns of a thread have ended."""
    return sum(event["type"] in ("turn.completed", "turn.failed") for event in _events(client, thread_id)) >= turns


def _events(client: OwnerClient, thread_id: str) -> Iterator[JsonObject]:
    after = 0
    while True:
        page = _call(client, "thread.events", thread_id=thread_id, from_sequence=after, limit=2000)["result"]
        assert isinstance(page, dict) and isinstance(page["events"], list)
        for event in page["events"]:
            assert isinstance(event, dict)
            yield event
            after = int(str(event["sequence"]))
        if after >= int(str(page["last_sequence"])) or not page["events"]:
            return


def _check(repo: Path, client: OwnerClient, number: int, thread_id: str, tally: Tally) -> None:
    events, turns = [*_events(client, thread_id)], tally.sent[number]
    assert [event["sequence"] for event in events] == [*range(1, len(events) + 1)]
    kinds = Counter(str(event["type"]) for event in events)
    assert kinds["turn.failed"] == 0 and kinds["turn.completed"] == turns, kinds
    asked = [_payload(event)["content"] for event in events if event["type"] == "message.created"]
    assert asked == [f"thread {number} turn {turn}" for turn in range(turns)]
    answered = [_payload(event)["full_text"] for event in events if event["type"] == "assistant.message_committed"]
    assert [str(text).strip() for text in answered] == [said for turn in range(turns) for said in _said(number, turn)]
    _check_deltas(events)
    _check_effects(repo, events, number, turns, tally)
    tally.turns += turns
    tally.resumed += sum(
        event["type"] == "turn.resumed" and _payload(event)["resumed_reason"] == "restart" for event in events
    )


def _check_deltas(events: list[JsonObject]) -> None:
    """The segment that was streamed last before a message was committed is that message."""
    segment, text = None, ""
    for event in events:
        payload = _payload(event)
        if event["type"] == "assistant.text_delta":
            text = str(payload["delta"]) if payload["segment_id"] != segment else text + str(payload["delta"])
            segment = payload["segment_id"]
        elif event["type"] == "assistant.message_committed":
            assert text.strip() == str(payload["full_text"]).strip(), (segment, text, payload)
            segment, text = None, ""


def _check_effects(repo: Path, events: list[JsonObject], number: int, turns: int, tally: Tally) -> None:
    lines = (repo / _lines_file(number)).read_text()
    assert lines == "start\n" + "".join(_line(turn, part) for turn in range(turns) for part in range(2))
    ran = Counter((repo / _commands_file(number)).read_text().split())
    answers = [_payload(event) for event in events if event["type"] in ("tool.finished", "tool.answered")]
    # What a command printed is recorded as well; the turn's own record has what the model was shown.
    answers = [payload for payload in answers if "payload_hash" in payload]
    # Every call of a tool is answered once, in order.
    names = [payload["tool_name"] for payload in answers]
    assert names == [name for turn in range(turns) for name, _ in _calls(number, turn)]
    statuses = [str(payload["status"]) for payload in answers if payload["tool_name"] == "run_bash"]
    for turn, status in enumerate(statuses):
        # It ran once, or it is shown that this is not known; it never runs twice.
        assert ran[str(turn)] == 1 if status == "ok" else ran[str(turn)] <= 1, (turn, status, ran)
        tally.unknown += status == "OUTCOME_UNKNOWN"
        assert status in ("ok", "OUTCOME_UNKNOWN"), status


def _payload(event: JsonObject) -> JsonObject:
    payload = event["payload"]
    assert isinstance(payload, dict)
    return payload
