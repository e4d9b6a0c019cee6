"""Reads the log's file itself and holds it against what clients were told."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Protocol

from tests.soak.promises import Promise


class Keyed(Protocol):
    """What a client with idempotency keys believes of them: answered with a session, of unknown outcome, or open."""

    done: dict[str, str]

    @property
    def unknown(self) -> Set[str]: ...

    @property
    def unsure(self) -> Set[str]: ...


class Watched(Protocol):
    """What a watcher was shown: event ids by position."""

    seen: dict[int, str]


class Witness:
    """Knows every event of one log so far; looks at the new ones after each restart."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self.position = 0
        self._event_ids: list[str] = [""]
        self._sequences: dict[str, int] = {}
        self._facts: Counter[tuple[str, str]] = Counter()
        self._calls: dict[str, list[str]] = {}
        self._described: dict[str, list[str]] = {}
        self._keys: Counter[str] = Counter()

    def look(self) -> None:
        """Take in what is new: positions and sequences without gaps, no event twice."""
        connection = sqlite3.connect(f"{self._ledger.as_uri()}?mode=ro", uri=True)
        try:
            # One state of the log, though its server goes on writing.
            connection.execute("BEGIN")
            rows = connection.execute(
                """SELECT position, stream, sequence, event_id, type, call_id, session_id, payload FROM events
                   WHERE position > ? ORDER BY position""",
                (self.position,),
            ).fetchall()
            (distinct, total) = connection.execute("SELECT count(DISTINCT event_id), count(*) FROM events").fetchone()
        finally:
            connection.close()
        for position, stream, sequence, event_id, kind, call_id, session_id, payload in rows:
            assert position == self.position + 1, f"position {position} follows {self.position}"
            expected = self._sequences.get(stream, 0) + 1
            assert sequence == expected, f"{stream}: sequence {sequence} where {expected} was due"
            self.position, self._sequences[stream] = position, sequence
            self._event_ids.append(event_id)
            self._facts[stream, kind] += 1
            self._index(kind, call_id, session_id, json.loads(payload))
        assert distinct == total == self.position, "an event is gone or there twice"

    def _index(self, kind: str, call_id: str | None, session_id: str | None, payload: dict[str, object]) -> None:
        if kind in ("call.started", "call.finished") and call_id is not None:
            output = kind if kind == "call.started" else f"{kind} {payload['status']}"
            self._calls.setdefault(call_id, []).append(output)
            if kind == "call.started" and "idempotency_key" in payload:
                self._keys[str(payload["idempotency_key"])] += 1
        if kind == "task.opened":
            self._described.setdefault(str(payload["description"]), []).append(str(session_id))

    def hold(self, promises: Iterable[Promise]) -> int:
        """Every acknowledged mutation has its intent, its outcome and its facts; returns how many there were."""
        held = 0
        for promise in promises:
            found = self._calls.get(promise.call_id)
            assert found == ["call.started", "call.finished ok"], f"acknowledged, but the log has {found}: {promise}"
            for fact in promise.facts:
                assert self._facts[fact], f"acknowledged, but {fact} is not in the log: {promise}"
            held += 1
        return held

    def hold_keys(self, user: Keyed) -> None:
        """No key ran twice, and each that was answered ran once, with that answer."""
        for key in (*user.done, *user.unknown, *user.unsure):
            opened = self._described.get(key, [])
            assert self._keys[key] <= 1 and len(opened) <= 1, f"{key} ran {self._keys[key]} times: {opened}"
        for key, session in user.done.items():
            assert self._described.get(key) == [session], (
                f"{key} gave {session}, the log has {self._described.get(key)}"
            )

    def hold_watch(self, watcher: Watched) -> None:
        """What a watcher was shown is what the log holds."""
        for position, event_id in watcher.seen.items():
            assert self._event_ids[position] == event_id, f"the watcher saw another event at {position}"
        watcher.seen.clear()
