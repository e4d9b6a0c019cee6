"""Clients that work at once, each in its own way, and begin again where they were when the server is back."""

import itertools
import random
import threading
from collections.abc import Callable, Iterator

from codeplane.kernel.json import JsonObject
from tests.soak.gate import Gate
from tests.soak.promises import Promises
from tests.soak.wire import Lost, Wire

Connect = Callable[[str], Wire]
UNKNOWN = "OUTCOME_UNKNOWN"
CONFLICT = "IDEMPOTENCY_CONFLICT"


class Worker:
    """A client in a thread of its own; what it finds wrong is a problem, what it loses is not."""

    def __init__(self, name: str, *, gate: Gate, promises: Promises, connect: Connect, seed: int) -> None:
        self.name = name
        self.problems: list[str] = []
        self._gate = gate
        self._promises = promises
        self._connect = connect
        self._random = random.Random(f"{name} {seed}")
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Return when it has gone home."""
        self._thread.join(60)
        assert not self._thread.is_alive(), f"{self.name} does not end"

    def live(self) -> None:
        """Work until the server is gone."""
        with self._connect(self.name) as wire:
            while self._gate.is_open:
                self.turn(wire)

    def turn(self, wire: Wire) -> None:
        """One round of work."""
        raise NotImplementedError

    def _run(self) -> None:
        while self._gate.enter():
            try:
                self.live()
            except Lost:
                pass
            except Exception as error:
                self.problems.append(f"{self.name}: {type(error).__name__}: {error}")
            finally:
                self._gate.leave()

    def _call(self, wire: Wire, operation: str, **arguments: object) -> JsonObject:
        envelope = wire.call(operation, arguments)  # type: ignore[arg-type]  # tests pass plain JSON values
        self._promises.answered()
        return envelope

    def _result(self, wire: Wire, operation: str, **arguments: object) -> tuple[JsonObject, JsonObject]:
        envelope = self._call(wire, operation, **arguments)
        result = envelope.get("result")
        assert isinstance(result, dict), f"{operation} failed: {envelope}"
        return envelope, result


def opened(result: JsonObject) -> tuple[str, str]:
    """The streams of a new session and of its task."""
    task = result["task"]
    assert isinstance(task, dict)
    return f"session/{result['session_id']}", f"task/{task['task_id']}"


class SessionUser(Worker):
    """Opens sessions, takes budget from them, looks at them and closes them."""

    def turn(self, wire: Wire) -> None:
        envelope, created = self._result(wire, "session.create", description=self.name)
        session, task = opened(created)
        self._promises.make(envelope, (session, "session.opened"), (task, "task.opened"))
        for _ in range(self._random.randint(0, 2)):
            envelope, _ = self._result(wire, "session.configure", limits_delta={"add_mutations": -1})
            self._promises.make(envelope, (task, "task.configured"))
        self._result(wire, "session.info")
        envelope, _ = self._result(wire, "session.close", reason="success")
        self._promises.make(envelope, (session, "session.closed"), (task, "task.closed"))


class Reader(Worker):
    """Reads, which promises nothing, and pages through the log, where nothing may be missing."""

    def __init__(self, *arguments: str, **options: object) -> None:
        self._after = 0
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # the same as the worker's

    def turn(self, wire: Wire) -> None:
        self._result(wire, self._random.choice(["status", "session.info", "task.list"]))
        cursor: object = None
        for _ in range(4):
            more = {"cursor": cursor} if cursor else {}
            _, page = self._result(wire, "ledger.events", after=self._after, limit=100, **more)
            results, pagination = page["results"], page["pagination"]
            assert isinstance(results, list) and isinstance(pagination, dict)
            for event in results:
                assert int(event["position"]) == self._last + 1, f"{event['position']} came after {self._last}"
                self._last += 1
            cursor = pagination.get("next_cursor")
            if not cursor:
                break
        self._after = self._last

    def live(self) -> None:
        self._last = self._after
        super().live()


class KeyUser(Worker):
    """Sends mutations with idempotency keys, and sends them again when it does not know what became of them."""

    def __init__(self, *arguments: str, **options: object) -> None:
        self.done: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.unknown: set[str] = set()
        self.resent = {"replayed": 0, "unknown": 0, "first": 0}
        self._numbers = itertools.count()
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # the same as the worker's

    def live(self) -> None:
        with self._connect(self.name) as wire:
            for key in sorted(self.unsure):
                self._send(wire, key)
        super().live()

    def turn(self, wire: Wire) -> None:
        key = f"{self.name}-{next(self._numbers)}"
        self.unsure.add(key)
        self._send(wire, key)
        if self.done and self._random.random() < 0.3:
            self._send(wire, self._random.choice(sorted(self.done)))
        if self.unknown and self._random.random() < 0.1:
            self._send(wire, self._random.choice(sorted(self.unknown)))
        if self._random.random() < 0.05:
            refused = self._call(wire, "session.create", description="other", idempotency_key=key)
            assert _error(refused) == CONFLICT, f"{key} was taken for other arguments: {refused}"

    def _send(self, wire: Wire, key: str) -> None:
        envelope = self._call(wire, "session.create", description=key, idempotency_key=key)
        meta, result = envelope["meta"], envelope.get("result")
        assert isinstance(meta, dict)
        before = self.done.get(key)
        if isinstance(result, dict):
            assert key not in self.unknown, f"{key} had an unknown outcome and now has one: {envelope}"
            session = str(result["session_id"])
            assert before in (None, session), f"{key} gave {before} and now gives {session}"
            assert before is None or meta.get("replayed") is True, f"{key} ran again: {envelope}"
            self.done[key] = session
            self.resent["replayed" if meta.get("replayed") else "first"] += 1
            if not meta.get("replayed"):
                self._promises.make(envelope, *zip(opened(result), ("session.opened", "task.opened"), strict=True))
        else:
            assert _error(envelope) == UNKNOWN, f"{key}: {envelope}"
            assert before is None, f"{key} was acknowledged and is now unknown"
            self.unknown.add(key)
            self.resent["unknown"] += 1
        self.unsure.discard(key)


def _error(envelope: JsonObject) -> str | None:
    error = envelope.get("error")
    return str(error["error"]) if isinstance(error, dict) else None


class LogWatcher(Worker):
    """Watches the whole log, and resumes by position: every event once, in order."""

    def __init__(self, *arguments: str, **options: object) -> None:
        self.last = 0
        self.resumed = 0
        self.seen: dict[int, str] = {}
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # the same as the worker's

    def turn(self, wire: Wire) -> None:
        resumed = False
        for event in _events(wire.stream("ledger.watch", {"after": self.last, "heartbeat_sec": 1.0})):
            self.resumed, resumed = self.resumed + (not resumed), True
            position = event["position"]
            assert position == self.last + 1, f"{position} came after {self.last}"
            self.last += 1
            self.seen[self.last] = str(event["event_id"])


class TaskWatcher(Worker):
    """Watches one task while working in it, across crashes, until it sees how one ended it: no sequence may miss."""

    def __init__(self, *arguments: str, **options: object) -> None:
        self.ended = 0
        self._watched: str | None = None
        self._position = self._sequence = 0
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # the same as the worker's

    def turn(self, wire: Wire) -> None:
        if self._watched is None:
            _, created = self._result(wire, "session.create", description=self.name)
            self._watched, self._sequence = opened(created)[1], 0
        with self._connect(f"{self.name} watching") as watching:
            asked: JsonObject = {"stream": self._watched, "after": self._position}
            for event in _events(watching.stream("ledger.watch", asked)):
                position, sequence = int(str(event["position"])), int(str(event["sequence"]))
                assert sequence == self._sequence + 1, f"{self._watched}: {sequence} came after {self._sequence}"
                assert position > self._position, f"{self._watched}: {position} came after {self._position}"
                self._position, self._sequence = position, sequence
                if event["type"] == "task.closed":
                    self.ended, self._watched = self.ended + 1, None
                    return
                # The next event that the watch has to bring.
                self._result(wire, "status")


def _events(items: Iterator[JsonObject]) -> Iterator[JsonObject]:
    for item in items:
        event = item.get("event")
        assert "stream_gap" not in item, item
        if isinstance(event, dict):
            yield event
