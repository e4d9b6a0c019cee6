"""Undos and redos of git mutations under way, recorded before the first change: the next run finishes them."""

import fcntl
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from codeplane.git.write.process_lock import is_locked

Verb = Literal["undo", "redo"]
_PART = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedReversal:
    """An undo or redo that was started for a call."""

    mutation_id: str
    verb: Verb
    call_id: str


class PendingReversals:
    """Store a file for each undo or redo under way; git holds it open, so that the next run can wait for its end."""

    def __init__(self, folder: Path, *, step: Callable[[str], None] = lambda name: None) -> None:
        """`step` is called at every step, so that tests can stop there."""
        self._folder = folder
        self.step = step
        self._running: dict[str, int] = {}

    def begin(self, started: StartedReversal) -> None:
        """Record the start, before anything is changed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / started.mutation_id
        part = file.with_name(f"{started.mutation_id}{_PART}")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._running[started.mutation_id] = descriptor
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        raw = {"mutation_id": started.mutation_id, "verb": started.verb, "call_id": started.call_id}
        os.write(descriptor, json.dumps(raw, separators=(",", ":")).encode())
        os.fsync(descriptor)
        part.replace(file)
        self.step("reversal begun")

    def end(self, mutation_id: str) -> None:
        """Remove an undo or redo that is over."""
        self.step("reversal ends")
        with suppress(OSError):
            (self._folder / mutation_id).unlink(missing_ok=True)
        if (descriptor := self._running.pop(mutation_id, None)) is not None:
            os.close(descriptor)

    def inherited_descriptors(self, mutation_id: str) -> tuple[int, ...]:
        """Return the descriptors that git and its children keep open while they work on it."""
        return (self._running[mutation_id],) if mutation_id in self._running else ()

    def is_running(self, mutation_id: str) -> bool:
        """Whether git of the last run still works on it; waits a moment for its end."""
        return is_locked(self._folder / mutation_id, missing=False)

    def all(self) -> list[StartedReversal]:
        """Return what the last run left, oldest mutation first; files that cannot be read are removed."""
        found = []
        for name in self._names():
            try:
                found.append(_read(self._folder / name))
            except (OSError, ValueError, TypeError, KeyError):
                with suppress(OSError):
                    (self._folder / name).unlink()
        return found

    @property
    def is_empty(self) -> bool:
        """Whether the last run left none."""
        return not self._names()

    def _names(self) -> list[str]:
        with suppress(OSError):
            return sorted(os.listdir(self._folder))  # noqa: PTH208
        return []


def _read(file: Path) -> StartedReversal:
    raw = json.loads(file.read_bytes())
    started = StartedReversal(
        mutation_id=str(raw["mutation_id"]), verb=cast(Verb, raw["verb"]), call_id=str(raw["call_id"])
    )
    if started.mutation_id != file.name or started.verb not in get_args(Verb):
        raise ValueError(f"{file.name} holds another reversal")
    return started
