"""What clients were told, to be held against the log later."""

import threading
from dataclasses import dataclass, field

from codeplane.kernel.json import JsonObject


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A mutation that was acknowledged: its call, and the (stream, type) of the facts that came of it."""

    call_id: str
    facts: tuple[tuple[str, str], ...]


@dataclass
class Promises:
    """Everything that was acknowledged since the last look, from all workers."""

    made: list[Promise] = field(default_factory=list)
    answers: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def answered(self) -> None:
        """Some call was answered."""
        with self.changed:
            self.answers += 1
            self.changed.notify_all()

    def make(self, envelope: JsonObject, *facts: tuple[str, str]) -> None:
        """A mutation was acknowledged."""
        meta = envelope["meta"]
        assert isinstance(meta, dict)
        with self.changed:
            self.made.append(Promise(call_id=str(meta["call_id"]), facts=facts))

    def take(self) -> list[Promise]:
        """What was promised since the last time."""
        with self.changed:
            taken, self.made = self.made, []
            return taken

    def wait_for(self, answers: int, *, sec: float) -> None:
        """Return when so many more calls have been answered."""
        with self.changed:
            wanted = self.answers + answers
            assert self.changed.wait_for(lambda: self.answers >= wanted, sec), "the server stopped answering"
